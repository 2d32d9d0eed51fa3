// CreateHyperParameterTuningJob as everybody reads it: its definitions, whichever way they are
// given, and the training job that a definition asks for.
//
// Pure; any thread. The request passed the service's schema. Results point into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/instance_catalog.h"

namespace sabia::model {

struct TuningDefinition {
  std::string name;  // DefinitionName; "" when the only one has none
  std::string path;  // "TrainingJobDefinition", "TrainingJobDefinitions[2]": for messages
  const json::object* definition = nullptr;
  // Of the definition, or of the tuning job when it has one definition; null: given nowhere.
  const json::object* objective = nullptr;  // Type, MetricName
  const json::object* ranges = nullptr;     // the lists of ParameterRanges
};

// In the order of the request; TrainingJobDefinition first, should both be there.
std::vector<TuningDefinition> TuningDefinitionsOf(const json::object& request);

// CreateTrainingJob for the trials of a definition, with the static hyperparameters, without a
// name, and without anything that CreateTrainingJob does not have. Of InstanceConfigs, the first
// whose type the catalogue knows, else the first.
json::object TrainingRequestOf(const InstanceCatalog& catalog, const json::object& definition);

// What the hyperparameter that tells a program its objective is called.
inline constexpr std::string_view kTuningObjectiveParameter = "_tuning_objective_metric";

// Hyperband's MaxResource: given, or inferred from a static hyperparameter.
struct InferredResource {
  std::string name;  // "epochs"
  std::string text;  // its value, without the quotes that an SDK may have put around it
};
// The static hyperparameter that says how long a training is, of those that AWS names; nothing
// without one.
std::optional<InferredResource> ResourceOf(const json::object& definition);

}  // namespace sabia::model
