// The built-in XGBoost as a program: what `sabia algorithm xgboost …` runs.
//
// Commands: `train` trains on the channels under root as the sagemaker-xgboost images do in
// algorithm mode and leaves model/xgboost-model; `predict --model FILE [--content-type text/csv]`
// reads rows without labels from standard input and prints one prediction per line.
//
// Exit codes: 0 done; 1 failed, with the reason in output/failure and on the log; 2 wrong
// arguments; 143 ended by SIGTERM without a model of its own (0 when save_model_on_termination left
// one).
//
// SIGTERM ends training after the round under way, whose checkpoint is written first. Threading:
// call once, from main.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/files.h"

namespace sabia::algorithms {

struct XgboostContext {
  env::Clock& clock;  // for the time stamps of log lines only
  env::Files& files;
  std::filesystem::path root = "/opt/ml";
  int input = 0;  // descriptors
  int output = 1;
  std::vector<std::string> libraries =
      {};  // names or paths of libxgboost, tried in order; empty: Debian's
};

int RunXgboost(std::span<const std::string> args, const XgboostContext& context);

}  // namespace sabia::algorithms
