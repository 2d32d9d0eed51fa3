// A small CreateTrainingJob request that every rule accepts, and how tests change it.
#pragma once

#include <string_view>

#include "base/json.h"

namespace sabia::api {

// A small request that is accepted; `change` replaces or adds members (null removes).
inline json::object SmallRequest(std::string_view name, std::string_view change = "{}") {
  json::object request = *ParseJsonObject(R"({
    "AlgorithmSpecification": {
      "TrainingImage":
        "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310",
                               "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::123456789012:role/service-role/Sage",
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {
          "S3DataSource": {"S3DataType": "S3Prefix",
        "S3Uri": "s3://data/train", "S3DataDistributionType": "FullyReplicated"}}}],
    "OutputDataConfig": {"S3OutputPath": "s3://models/out/"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "HyperParameters": {"objective": "\"reg:squarederror\"", "num_round": "3"}})");
  request["TrainingJobName"] = name;
  const json::object changes = *ParseJsonObject(change);
  for (const auto& [key, value] : changes) {
    if (value.is_null())
      request.erase(key);
    else
      request[key] = value;
  }
  return request;
}

}  // namespace sabia::api
