// `sabia algorithm xgboost predict`: rows without labels in, one prediction per line out.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "algorithms/channel_config.h"
#include "algorithms/xgboost.h"
#include "base/result.h"

namespace sabia::algorithms {

struct PredictionOptions {
  std::filesystem::path model;
  DataFormat format = DataFormat::kCsv;
};

// --model FILE and --content-type TYPE. kInvalidArgument names what is wrong.
Result<PredictionOptions> ParsePredictionArguments(std::span<const std::string> args);

// With early stopping, the rounds up to the best one predict. kInvalidArgument when rows and model
// do not fit.
Status RunPrediction(const XgboostContext& context, const PredictionOptions& options);

}  // namespace sabia::algorithms
