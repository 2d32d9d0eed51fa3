// A small CreateHyperParameterTuningJob request that every rule accepts, and how tests change it.
#pragma once

#include <string_view>

#include "base/json.h"

namespace sabia::api {

// Merges `change` into `into`, object by object; null removes.
inline void MergeJson(json::object& into, const json::object& change) {
  for (const auto& [key, value] : change) {
    if (value.is_null()) {
      into.erase(key);
    } else if (json::value* old = into.if_contains(key);
               old != nullptr && old->is_object() && value.is_object()) {
      MergeJson(old->get_object(), value.get_object());
    } else {
      into[key] = value;
    }
  }
}

inline json::object SmallTuningRequest(std::string_view name, std::string_view change = "{}") {
  json::object request = *ParseJsonObject(R"({
    "HyperParameterTuningJobConfig": {
      "Strategy": "Bayesian",
      "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
      "ResourceLimits": {"MaxNumberOfTrainingJobs": 10, "MaxParallelTrainingJobs": 2},
      "ParameterRanges": {
        "ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.001", "MaxValue": "0.1"}],
        "IntegerParameterRanges": [{"Name": "depth", "MinValue": "1", "MaxValue": "10"}]}},
    "TrainingJobDefinition": {
      "AlgorithmSpecification": {
        "TrainingImage":
          "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+);"}]},
      "RoleArn": "arn:aws:iam::123456789012:role/service-role/Sage",
      "InputDataConfig": [{"ChannelName": "train", "DataSource": {
            "S3DataSource": {"S3DataType": "S3Prefix",
          "S3Uri": "s3://data/train", "S3DataDistributionType": "FullyReplicated"}}}],
      "OutputDataConfig": {"S3OutputPath": "s3://models/out/"},
      "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
      "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
      "StaticHyperParameters": {"epochs": "10"}}})");
  request["HyperParameterTuningJobName"] = name;
  MergeJson(request, *ParseJsonObject(change));
  return request;
}

// The same with two definitions, "a" and "b", and `change` merged at the end.
inline json::object TwoDefinitionsRequest(std::string_view name, std::string_view change = "{}") {
  json::object request = SmallTuningRequest(name);
  json::object& config = request["HyperParameterTuningJobConfig"].get_object();
  json::object definition = request["TrainingJobDefinition"].get_object();
  definition["TuningObjective"] = config["HyperParameterTuningJobObjective"];
  definition["HyperParameterRanges"] = config["ParameterRanges"];
  config.erase("HyperParameterTuningJobObjective");
  config.erase("ParameterRanges");
  request.erase("TrainingJobDefinition");
  definition["DefinitionName"] = "a";
  json::array both{definition};
  definition["DefinitionName"] = "b";
  both.push_back(std::move(definition));
  request["TrainingJobDefinitions"] = std::move(both);
  MergeJson(request, *ParseJsonObject(change));
  return request;
}

}  // namespace sabia::api
