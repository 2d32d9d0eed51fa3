// The hyperparameters of the built-in XGBoost: checked as the image checks them, word for word.
//
// Order of the checks, as in the image: aliases, required ones, then for each key in the order of
// the file parsing, range, and at last the rules across keys. The first problem is reported
// (kInvalidArgument, a UserError there). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace sabia::algorithms {

struct Hyperparameters {
  int num_round = 0;
  std::optional<int> early_stopping_rounds;
  bool csv_weights = false;
  bool save_model_on_termination = false;
  std::optional<int> folds;  // _kfold
  int fold_rounds = 1;       // _num_cv_round
  int seed = 0;
  std::optional<int> threads;
  int num_class = 0;      // 0: not given
  std::string objective;  // "" when not given: the library's reg:squarederror
  std::string booster = "gbtree";
  std::string tree_method = "auto";
  std::string updater;   // "" when not given
  bool samples = false;  // subsample or a colsample_* below 1
  std::vector<std::string> eval_metrics;
  std::string
      tuning_metric;  // "rmse" of "_tuning_objective_metric": "validation:rmse"; "" when not given
  // What goes to the library as it is: names of XGBoost, values as given.
  std::vector<std::pair<std::string, std::string>> library;
};

// `document` is hyperparameters.json: every value a string (numbers and booleans are read as their
// text).
Result<Hyperparameters> ReadHyperparameters(const json::object& document);

}  // namespace sabia::algorithms
