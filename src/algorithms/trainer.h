// One training run: rounds of boosting from the newest whole checkpoint on, with a line and a
// checkpoint per round, early stopping, and an end that a SIGTERM may bring at any time.
//
// After a crash or kill at any moment the next run continues and ends in the same bytes
// (booster_schedule.h). The best round so far travels in the model's attributes best_iteration and
// best_score, which XGBoost itself uses.
//
// Blocking. Errors: kInvalidArgument is the user's (data, parameters), with the image's texts;
// others are the algorithm's. Threading: thread-compatible.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/booster.h"
#include "algorithms/checkpoints.h"
#include "algorithms/evaluation.h"
#include "algorithms/hyperparameters.h"
#include "algorithms/job_log.h"
#include "base/result.h"

namespace sabia::algorithms {

struct TrainingRun {
  const XgboostApi& api;
  const Hyperparameters& values;
  const Matrix& train;
  std::vector<EvaluationSet> sets;     // first the training set, then perhaps one to validate with
  int threads = 1;                     // of the machine; the hyperparameter nthread wins
  Checkpoints* checkpoints = nullptr;  // nullptr: none are kept
  std::function<Status(const std::string& model)>
      after_round;                       // may be empty; the whole model so far
  std::function<bool()> stop_requested;  // asked between rounds; may be empty
  JobLog& log;
};

struct TrainingResult {
  Booster booster;            // the best rounds with early stopping, otherwise all
  std::vector<Score> scores;  // of the last round that was trained
  bool interrupted = false;   // stop_requested before the last round
};

Result<TrainingResult> Train(const TrainingRun& run);

}  // namespace sabia::algorithms
