#include "tuning/testing/requests.h"

#include "base/check.h"

namespace sabia::tuning::testing {

json::object SmallRequest() {
  auto request = ParseJsonObject(R"json({
    "HyperParameterTuningJobName": "search",
    "HyperParameterTuningJobConfig": {
      "Strategy": "Bayesian",
      "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
      "ResourceLimits": {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 1},
      "ParameterRanges": {
        "ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1"}],
        "IntegerParameterRanges": [{"Name": "depth", "MinValue": "1", "MaxValue": "8"}]}},
    "TrainingJobDefinition": {
      "StaticHyperParameters": {"epochs": "9"},
      "AlgorithmSpecification": {
        "TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(\\S+)"}]},
      "RoleArn": "arn:aws:iam::123456789012:role/job",
      "OutputDataConfig": {"S3OutputPath": "s3://out/"},
      "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
      "StoppingCondition": {"MaxRuntimeInSeconds": 3600}}})json");
  CHECK(request.has_value());
  return std::move(*request);
}

json::object Category(const char* name, std::initializer_list<const char*> values) {
  json::array list;
  for (const char* value : values) list.emplace_back(value);
  return {{"Name", name}, {"Values", std::move(list)}};
}

json::object& ConfigIn(json::object& request) {
  return request["HyperParameterTuningJobConfig"].as_object();
}

json::object& DefinitionIn(json::object& request) {
  return request["TrainingJobDefinition"].as_object();
}

}  // namespace sabia::tuning::testing
