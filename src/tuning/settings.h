// What a stored CreateHyperParameterTuningJob request asks of a search.
//
// Pure; any thread. Errors: kInvalidArgument, a sentence that names the member, its value and what
// is allowed; none for a request that the API accepted, which refuses more and in AWS's words
// (api/tuning_job_rules.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "model/instance_catalog.h"
#include "tuner/strategy.h"

namespace sabia::tuning {

enum class StrategyKind { kBayesian, kRandom, kGrid, kHyperband };

// One TrainingJobDefinition with the space and the objective that belong to it.
struct Definition {
  std::string name;    // "" when it has none
  std::string metric;  // of the objective
  tuner::Goal goal = tuner::Goal::kMinimize;
  tuner::Space space;
  // The CreateTrainingJob request of its trials, completed, but for a name and the tuned
  // hyperparameters.
  json::object training;
  // Hyperband: HyperbandStrategyConfig, or what the static epochs say.
  std::int64_t min_resource = 1;
  std::int64_t max_resource = 1;
};

struct Settings {
  StrategyKind strategy = StrategyKind::kBayesian;
  std::vector<Definition> definitions;  // at least one; all have one goal
  bool median_rule = false;             // TrainingJobEarlyStoppingType Auto
  int parallel_max = 1;
  int trials_max = 1;  // a grid's size when it is smaller; AWS's quota when nothing is said
  std::optional<Seconds> runtime_max;
  std::optional<double> target;
  std::optional<int> not_improving_max;
  bool complete_on_convergence = false;
  bool identical_parents = false;  // IdenticalDataAndAlgorithm; else TransferLearning

  // Whether intermediate values of the objective decide anything.
  bool WatchesCurves() const { return median_rule || strategy == StrategyKind::kHyperband; }
  tuner::Goal goal() const { return definitions.front().goal; }
  // Null when there is none of that name.
  const Definition* Find(std::string_view definition) const;
};

Result<Settings> ReadSettings(const model::InstanceCatalog& catalog, const json::object& request);

// The training job of a trial, as the CreateTrainingJob request that a user would send for it:
// static and tuned hyperparameters, and everything else of the definition (AWS). Ours: the name of
// the training job is appended to the S3Uri of CheckpointConfig, as trials that shared a prefix
// would restore each other's checkpoints.
// REQUIRES: values are of the definition's space.
json::object TrialRequest(const Definition& definition, const tuner::Configuration& values,
                          std::string_view training_job);

}  // namespace sabia::tuning
