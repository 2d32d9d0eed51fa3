#include "tuning/training_request.h"

#include <fmt/format.h>

#include <array>

#include "model/training_request.h"

namespace sabia::tuning {
namespace {

// Members that a definition and a CreateTrainingJob request have in common.
constexpr std::array<std::string_view, 12> kShared = {"AlgorithmSpecification",
                                                      "RoleArn",
                                                      "InputDataConfig",
                                                      "VpcConfig",
                                                      "OutputDataConfig",
                                                      "StoppingCondition",
                                                      "EnableNetworkIsolation",
                                                      "EnableInterContainerTrafficEncryption",
                                                      "EnableManagedSpotTraining",
                                                      "CheckpointConfig",
                                                      "RetryStrategy",
                                                      "Environment"};

void CopyMembers(const json::object& from, std::initializer_list<std::string_view> members,
                 json::object& to) {
  for (const std::string_view member : members) {
    if (const json::value* value = from.if_contains(member)) to[member] = *value;
  }
}

// ResourceConfig from HyperParameterTuningResourceConfig.
json::object ResourcesOf(const json::object& tuning) {
  json::object out;
  const json::array* configs = FindArray(tuning, "InstanceConfigs");
  const bool prioritized = configs != nullptr && !configs->empty() && configs->front().is_object();
  CopyMembers(prioritized ? configs->front().get_object() : tuning,
              {"InstanceType", "InstanceCount", "VolumeSizeInGB"}, out);
  CopyMembers(tuning, {"VolumeKmsKeyId"}, out);
  return out;
}

}  // namespace

json::object TrainingRequestOf(const json::object& definition, std::string_view metric) {
  json::object out;
  for (const std::string_view member : kShared) {
    if (const json::value* value = definition.if_contains(member)) out[member] = *value;
  }
  if (const json::object* resources = FindObject(definition, "ResourceConfig")) {
    out["ResourceConfig"] = *resources;
  } else if (const json::object* tuning =
                 FindObject(definition, "HyperParameterTuningResourceConfig")) {
    out["ResourceConfig"] = ResourcesOf(*tuning);
  }
  json::object parameters;
  if (const json::object* fixed = FindObject(definition, "StaticHyperParameters")) {
    parameters = *fixed;
  }
  parameters[kObjectiveParameter] = metric;
  out["HyperParameters"] = std::move(parameters);
  return out;
}

json::object TrialRequest(const Definition& definition, const tuner::Configuration& values,
                          std::string_view training_job) {
  json::object request = definition.training;
  request["TrainingJobName"] = training_job;
  json::object& parameters = request["HyperParameters"].get_object();
  for (std::size_t i = 0; i < values.size(); ++i) {
    parameters[definition.space[i].name()] = values[i];
  }
  if (const json::object* checkpoint = FindObject(request, "CheckpointConfig")) {
    std::string uri = GetString(*checkpoint, "S3Uri");
    if (!uri.ends_with('/')) uri += '/';
    request["CheckpointConfig"].get_object()["S3Uri"] = uri + std::string(training_job);
  }
  model::CompleteTrainingRequest(request);
  return request;
}

}  // namespace sabia::tuning
