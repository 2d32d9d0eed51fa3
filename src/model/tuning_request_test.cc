#include "model/tuning_request.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

TEST(TuningRequest, OneDefinitionTakesWhatTheTuningJobSays) {
  const json::object request = *ParseJsonObject(R"({
    "HyperParameterTuningJobConfig": {"HyperParameterTuningJobObjective": {"MetricName": "m"},
                                      "ParameterRanges": {"AutoParameters": []}},
    "TrainingJobDefinition": {"RoleArn": "r"}})");
  const auto definitions = TuningDefinitionsOf(request);
  ASSERT_EQ(definitions.size(), 1u);
  EXPECT_EQ(definitions[0].name, "");
  EXPECT_EQ(definitions[0].path, "TrainingJobDefinition");
  EXPECT_EQ(GetString(*definitions[0].objective, "MetricName"), "m");
  EXPECT_TRUE(definitions[0].ranges->contains("AutoParameters"));
}

TEST(TuningRequest, SeveralDefinitionsSpeakForThemselves) {
  const json::object request = *ParseJsonObject(R"({
    "HyperParameterTuningJobConfig": {"ParameterRanges": {}},
    "TrainingJobDefinitions": [{"DefinitionName": "a", "TuningObjective": {"MetricName": "m"}},
                               {"DefinitionName": "b", "HyperParameterRanges": {}}]})");
  const auto definitions = TuningDefinitionsOf(request);
  ASSERT_EQ(definitions.size(), 2u);
  EXPECT_EQ(definitions[1].name, "b");
  EXPECT_EQ(definitions[1].path, "TrainingJobDefinitions[2]");
  EXPECT_NE(definitions[0].objective, nullptr);
  EXPECT_EQ(definitions[0].ranges, nullptr) << "the tuning job's are of a single definition";
  EXPECT_EQ(definitions[1].objective, nullptr);
  EXPECT_NE(definitions[1].ranges, nullptr);
}

json::object TrainingOf(std::string_view definition) {
  return TrainingRequestOf(InstanceCatalog::BuiltIn(), *ParseJsonObject(definition));
}

TEST(TuningRequest, ATrainingJobHasNothingOfTheSearch) {
  const json::object training = TrainingOf(R"({"DefinitionName": "a", "TuningObjective": {},
    "HyperParameterRanges": {}, "StaticHyperParameters": {"k": "v"}, "RoleArn": "r",
    "AlgorithmSpecification": {"TrainingInputMode": "File"}, "Environment": {"A": "1"}})");
  EXPECT_EQ(json::value(training),
            json::value(*ParseJsonObject(R"({"RoleArn": "r", "Environment": {"A": "1"},
      "AlgorithmSpecification": {"TrainingInputMode": "File",
                                 "EnableSageMakerMetricsTimeSeries": false},
      "HyperParameters": {"k": "v"}})")));
}

TEST(TuningRequest, TheFirstKnownInstanceIsTaken) {
  const json::object training = TrainingOf(R"({"HyperParameterTuningResourceConfig": {
    "AllocationStrategy": "Prioritized", "VolumeKmsKeyId": "k", "InstanceConfigs": [
      {"InstanceType": "ml.unknown.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
      {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 3}]}})");
  EXPECT_EQ(training.at("ResourceConfig"), json::value({{"VolumeKmsKeyId", "k"},
                                                        {"InstanceType", "ml.m5.large"},
                                                        {"InstanceCount", 2},
                                                        {"VolumeSizeInGB", 3}}));
}

TEST(TuningRequest, TheResourceIsInferredFromTheFirstKnownName) {
  const auto inferred = ResourceOf(*ParseJsonObject(
      R"({"StaticHyperParameters": {"num_epochs": "3", "n_epochs": "\"12\"", "x": "9"}})"));
  ASSERT_TRUE(inferred.has_value());
  EXPECT_EQ(inferred->name, "n_epochs");
  EXPECT_EQ(inferred->text, "12");
  EXPECT_FALSE(ResourceOf(*ParseJsonObject(R"({"StaticHyperParameters": {"x": "9"}})")));
  EXPECT_FALSE(ResourceOf({}));
}

}  // namespace
}  // namespace sabia::model
