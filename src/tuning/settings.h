// What a CreateHyperParameterTuningJob request asks of a search.
//
// ReadSettings serves both the engine and validation: it refuses what no search can be made of.
// Pure; any thread. Errors: kInvalidArgument, a sentence that names the member, its value and what
// is allowed. Not here: what AWS refuses beyond that (api/), and whether buckets, parents and
// instance types exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "tuner/strategy.h"

namespace sabia::tuning {

// AWS's quota, and the limit when a request has none.
inline constexpr int kTrialsMax = 750;
inline constexpr std::string_view kObjectiveParameter = "_tuning_objective_metric";

enum class StrategyKind { kBayesian, kRandom, kGrid, kHyperband };

// One TrainingJobDefinition with the space and the objective that belong to it.
struct Definition {
  std::string name;    // "" when it has none
  std::string metric;  // of the objective
  tuner::Goal goal = tuner::Goal::kMinimize;
  tuner::Space space;
  // A CreateTrainingJob request but for its name and the tuned hyperparameters; not completed.
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
  int trials_max = kTrialsMax;  // a grid's size when it is smaller
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

// Adds the values that the service fills in, and those that Autotune chooses (autotune.h).
// Idempotent. REQUIRES: the request passed the schema.
Status CompleteTuningRequest(json::object& request);

// REQUIRES: completed.
Result<Settings> ReadSettings(const json::object& request);

// The definitions of a request: TrainingJobDefinitions, or TrainingJobDefinition alone.
std::vector<const json::object*> DefinitionsOf(const json::object& request);

}  // namespace sabia::tuning
