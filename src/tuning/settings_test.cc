#include "tuning/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/tuning_limits.h"
#include "tuning/testing/requests.h"

namespace sabia::tuning {
namespace {

using testing::Category;
using testing::ConfigIn;
using testing::DefinitionIn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SmallRequest;

const model::InstanceCatalog kCatalog = model::InstanceCatalog::BuiltIn();

Settings Read(const json::object& request) {
  auto settings = ReadSettings(kCatalog, request);
  EXPECT_TRUE(settings) << settings.error().message;
  return std::move(settings).value();
}

std::string Refusal(const json::object& request) {
  const auto settings = ReadSettings(kCatalog, request);
  return settings ? "" : settings.error().message;
}

TEST(ReadSettings, ReadsTheSmallRequest) {
  const Settings settings = Read(SmallRequest());
  EXPECT_EQ(settings.strategy, StrategyKind::kBayesian);
  EXPECT_EQ(settings.trials_max, 4);
  EXPECT_EQ(settings.parallel_max, 1);
  EXPECT_FALSE(settings.WatchesCurves());
  ASSERT_EQ(settings.definitions.size(), 1u);
  const Definition& definition = settings.definitions[0];
  EXPECT_EQ(definition.metric, "loss");
  EXPECT_EQ(definition.goal, tuner::Goal::kMinimize);
  ASSERT_EQ(definition.space.size(), 2u);
  EXPECT_EQ(definition.space[0].name(), "depth");
  EXPECT_EQ(definition.space[1].name(), "x");
}

TEST(ReadSettings, ReadsLimitsAndCriteria) {
  json::object request = SmallRequest();
  ConfigIn(request)["ResourceLimits"] = {{"MaxParallelTrainingJobs", 3},
                                         {"MaxRuntimeInSeconds", 600}};
  ConfigIn(request)["TrainingJobEarlyStoppingType"] = "Auto";
  ConfigIn(request)["TuningJobCompletionCriteria"] = {
      {"TargetObjectiveMetricValue", 0.25},
      {"BestObjectiveNotImproving", {{"MaxNumberOfTrainingJobsNotImproving", 12}}},
      {"ConvergenceDetected", {{"CompleteOnConvergence", "Enabled"}}}};
  const Settings settings = Read(request);
  EXPECT_EQ(settings.trials_max, model::kTrialsPerTuningJobMax);
  EXPECT_EQ(settings.parallel_max, 3);
  EXPECT_EQ(settings.runtime_max, Seconds(600));
  EXPECT_TRUE(settings.median_rule);
  EXPECT_EQ(settings.target, 0.25);
  EXPECT_EQ(settings.not_improving_max, 12);
  EXPECT_TRUE(settings.complete_on_convergence);
}

TEST(ReadSettings, ReadsSeveralDefinitionsEachWithItsSpace) {
  json::object request = SmallRequest();
  json::object first = DefinitionIn(request);
  request.erase("TrainingJobDefinition");
  first["DefinitionName"] = "first";
  first["TuningObjective"] = {{"Type", "Maximize"}, {"MetricName", "loss"}};
  first["HyperParameterRanges"] = {
      {"CategoricalParameterRanges", json::array{Category("kind", {"a", "b"})}}};
  json::object second = first;
  second["DefinitionName"] = "second";
  second["HyperParameterRanges"] = ConfigIn(request)["ParameterRanges"];
  request["TrainingJobDefinitions"] = json::array{first, second};
  const Settings settings = Read(request);
  ASSERT_EQ(settings.definitions.size(), 2u);
  EXPECT_EQ(settings.Find("first")->space.size(), 1u);
  EXPECT_EQ(settings.Find("second")->space.size(), 2u);
  EXPECT_EQ(settings.Find("third"), nullptr);
  EXPECT_EQ(settings.goal(), tuner::Goal::kMaximize);

  second["TuningObjective"].as_object()["Type"] = "Minimize";
  request["TrainingJobDefinitions"] = json::array{first, second};
  EXPECT_THAT(Refusal(request), HasSubstr("have different Types"));
  request["TrainingJobDefinitions"] = json::array{first, first};
  EXPECT_THAT(Refusal(request), HasSubstr("'first' is given twice"));
}

TEST(ReadSettings, AGridIsAsLargeAsItIs) {
  json::object request = SmallRequest();
  ConfigIn(request)["Strategy"] = "Grid";
  ConfigIn(request)["ParameterRanges"] = {
      {"CategoricalParameterRanges",
       json::array{Category("a", {"1", "2", "3"}), Category("b", {"x", "y"})}}};
  ConfigIn(request)["ResourceLimits"] = {{"MaxParallelTrainingJobs", 2}};
  EXPECT_EQ(Read(request).trials_max, 6);
  ConfigIn(request)["ParameterRanges"] =
      SmallRequest()["HyperParameterTuningJobConfig"].as_object()["ParameterRanges"];
  EXPECT_THAT(Refusal(request), HasSubstr("a grid takes categorical ranges only"));
}

TEST(ReadSettings, HyperbandTakesItsResourcesFromTheConfigOrFromStaticEpochs) {
  json::object request = SmallRequest();
  ConfigIn(request)["Strategy"] = "Hyperband";
  EXPECT_EQ(Read(request).definitions[0].max_resource, 9);
  DefinitionIn(request)["StaticHyperParameters"] = {{"n-epochs", "\"27\""}};
  EXPECT_EQ(Read(request).definitions[0].max_resource, 27) << "as JSON, as the SDK sends it";
  ConfigIn(request)["StrategyConfig"] = {
      {"HyperbandStrategyConfig", {{"MinResource", 2}, {"MaxResource", 81}}}};
  EXPECT_EQ(Read(request).definitions[0].max_resource, 81);
  EXPECT_EQ(Read(request).definitions[0].min_resource, 2);
  ConfigIn(request).erase("StrategyConfig");
  DefinitionIn(request)["StaticHyperParameters"] = json::object();
  EXPECT_THAT(Refusal(request), HasSubstr("MaxResource of HyperbandStrategyConfig is missing"));
}

TEST(ReadSettings, NamesWhatCannotBeSearched) {
  json::object request = SmallRequest();
  ConfigIn(request)["ParameterRanges"] = json::object();
  EXPECT_NE(Refusal(request), "");
  request = SmallRequest();
  ConfigIn(request).erase("HyperParameterTuningJobObjective");
  EXPECT_THAT(Refusal(request), HasSubstr("has no objective"));
  request = SmallRequest();
  request.erase("TrainingJobDefinition");
  EXPECT_THAT(Refusal(request), HasSubstr("no training job definition"));
}

TEST(TrialRequest, HasStaticAndTunedParametersAndEverythingOfTheDefinition) {
  json::object request = SmallRequest();
  json::object& source = DefinitionIn(request);
  source["Environment"] = {{"A", "b"}};
  source["EnableManagedSpotTraining"] = true;
  source["CheckpointConfig"] = {{"S3Uri", "s3://out/checkpoints"}};
  source["RetryStrategy"] = {{"MaximumRetryAttempts", 2}};
  const Settings settings = Read(request);
  const json::object trial = TrialRequest(settings.definitions[0], {"3", "0.5"}, "search-001-ab");
  EXPECT_EQ(trial.at("TrainingJobName"), "search-001-ab");
  EXPECT_EQ(
      trial.at("HyperParameters"),
      json::object(
          {{"epochs", "9"}, {"_tuning_objective_metric", "loss"}, {"x", "0.5"}, {"depth", "3"}}));
  EXPECT_EQ(trial.at("Environment").at("A"), "b");
  EXPECT_EQ(trial.at("EnableManagedSpotTraining"), true);
  EXPECT_EQ(trial.at("RetryStrategy").at("MaximumRetryAttempts"), 2);
  EXPECT_EQ(trial.at("CheckpointConfig").at("S3Uri"), "s3://out/checkpoints/search-001-ab");
  EXPECT_EQ(trial.at("ResourceConfig").at("InstanceType"), "ml.m5.large");
  EXPECT_EQ(trial.at("EnableNetworkIsolation"), false) << "completed";
  EXPECT_FALSE(trial.contains("StaticHyperParameters"));
}

TEST(TrialRequest, TakesTheFirstOfPrioritizedInstances) {
  json::object request = SmallRequest();
  DefinitionIn(request).erase("ResourceConfig");
  DefinitionIn(request)["HyperParameterTuningResourceConfig"] = {
      {"AllocationStrategy", "Prioritized"},
      {"VolumeKmsKeyId", "key"},
      {"InstanceConfigs",
       json::array{
           json::object{
               {"InstanceType", "ml.m5.xlarge"}, {"InstanceCount", 2}, {"VolumeSizeInGB", 5}},
           json::object{
               {"InstanceType", "ml.m5.large"}, {"InstanceCount", 1}, {"VolumeSizeInGB", 6}}}}};
  const Settings settings = Read(request);
  EXPECT_EQ(TrialRequest(settings.definitions[0], {"3", "0.5"}, "t").at("ResourceConfig"),
            json::object({{"InstanceType", "ml.m5.xlarge"},
                          {"InstanceCount", 2},
                          {"VolumeSizeInGB", 5},
                          {"VolumeKmsKeyId", "key"}}));
}

}  // namespace
}  // namespace sabia::tuning
