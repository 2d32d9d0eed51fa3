// _kfold and _num_cv_round: a model per fold, the means of their metrics once per repetition,
// predictions.csv.
//
// Each fold trains, checkpoints (in model-<fold>) and resumes like a job of its own. Blocking.
// Errors: as Train.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/trainer.h"
#include "base/result.h"

namespace sabia::algorithms {

struct CrossValidation {
  const XgboostApi& api;
  const Hyperparameters& values;
  const Matrix& data;  // train and validation rows together
  std::span<const float> labels;
  int threads = 1;
  std::filesystem::path checkpoints;  // empty: none
  // Keeps the model of a fold, when it is done and (with save_model_on_termination) after each
  // round.
  std::function<Status(int fold, const std::string& model)> keep;
  std::function<bool()> stop_requested;
  JobLog& log;
};

struct CrossValidationResult {
  bool interrupted = false;
  std::string predictions_csv;
};

Result<CrossValidationResult> CrossValidate(const CrossValidation& job);

}  // namespace sabia::algorithms
