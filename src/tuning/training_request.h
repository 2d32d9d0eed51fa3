// The training job of a trial, as the CreateTrainingJob request that a user would send for it.
//
// Everything of the definition goes into it (AWS): static and tuned hyperparameters, also
// _tuning_objective_metric; with HyperParameterTuningResourceConfig the first of InstanceConfigs,
// for no type is ever short here. Ours: the name of the training job is appended to the S3Uri of
// CheckpointConfig, as trials that shared a prefix would restore each other's checkpoints.
//
// Pure; any thread.
#pragma once

#include <string_view>

#include "tuning/settings.h"

namespace sabia::tuning {

// Everything but name and tuned hyperparameters; not completed.
json::object TrainingRequestOf(const json::object& definition, std::string_view metric);

// Completed (model/training_request.h). REQUIRES: values are of the definition's space.
json::object TrialRequest(const Definition& definition, const tuner::Configuration& values,
                          std::string_view training_job);

}  // namespace sabia::tuning
