#include "tuning/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuning/autotune.h"
#include "tuning/testing/requests.h"
#include "tuning/training_request.h"

namespace sabia::tuning {
namespace {

using testing::Category;
using testing::ConfigIn;
using testing::DefinitionIn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SmallRequest;

Settings Read(json::object request) {
  const Status completed = CompleteTuningRequest(request);
  EXPECT_TRUE(completed) << completed.error().message;
  auto settings = ReadSettings(request);
  EXPECT_TRUE(settings) << settings.error().message;
  return std::move(settings).value();
}

std::string Refusal(json::object request) {
  if (const Status completed = CompleteTuningRequest(request); !completed) {
    return completed.error().message;
  }
  const auto settings = ReadSettings(request);
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
  EXPECT_EQ(definition.space[0].name(), "x");
  EXPECT_EQ(definition.space[1].name(), "depth");
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
  EXPECT_EQ(settings.trials_max, kTrialsMax);
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
  EXPECT_THAT(Refusal(request), HasSubstr("must have one Type"));
  request["TrainingJobDefinitions"] = json::array{first, first};
  EXPECT_THAT(Refusal(request), HasSubstr("'first' is there twice"));
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
  ConfigIn(request)["TrainingJobEarlyStoppingType"] = "Auto";
  EXPECT_THAT(Refusal(request), HasSubstr("must be Off with the Hyperband strategy"));
}

TEST(ReadSettings, NamesWhatCannotBeSearched) {
  json::object request = SmallRequest();
  ConfigIn(request)["ParameterRanges"] = json::object();
  EXPECT_NE(Refusal(request), "");
  request = SmallRequest();
  ConfigIn(request).erase("HyperParameterTuningJobObjective");
  EXPECT_THAT(Refusal(request), HasSubstr("A metric is required"));
  request = SmallRequest();
  request.erase("TrainingJobDefinition");
  EXPECT_THAT(Refusal(request), HasSubstr("TrainingJobDefinition"));
}

TEST(CompleteTuningRequest, FillsInWhatDescribeShowsAndIsIdempotent) {
  json::object request = SmallRequest();
  ASSERT_TRUE(CompleteTuningRequest(request));
  const json::object once = request;
  ASSERT_TRUE(CompleteTuningRequest(request));
  EXPECT_EQ(request, once);
  EXPECT_EQ(ConfigIn(request)["TrainingJobEarlyStoppingType"], "Off");
  const json::object& definition = DefinitionIn(request);
  EXPECT_EQ(definition.at("StaticHyperParameters").at("_tuning_objective_metric"), "loss");
  EXPECT_EQ(definition.at("OutputDataConfig").at("CompressionType"), "GZIP");
  EXPECT_EQ(definition.at("EnableManagedSpotTraining"), false);
}

TEST(CompleteTuningRequest, ShowsTheMetricsThatABuiltInImageImplies) {
  json::object request = SmallRequest();
  json::object& algorithm = DefinitionIn(request)["AlgorithmSpecification"].as_object();
  algorithm["TrainingImage"] =
      "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1";
  algorithm.erase("MetricDefinitions");
  ASSERT_TRUE(CompleteTuningRequest(request));
  EXPECT_GT(
      DefinitionIn(request)["AlgorithmSpecification"].at("MetricDefinitions").as_array().size(),
      10u);
}

TEST(TrialRequest, HasStaticAndTunedParametersAndEverythingOfTheDefinition) {
  json::object request = SmallRequest();
  json::object& source = DefinitionIn(request);
  source["Environment"] = {{"A", "b"}};
  source["EnableManagedSpotTraining"] = true;
  source["CheckpointConfig"] = {{"S3Uri", "s3://out/checkpoints"}};
  source["RetryStrategy"] = {{"MaximumRetryAttempts", 2}};
  const Settings settings = Read(request);
  const json::object trial = TrialRequest(settings.definitions[0], {"0.5", "3"}, "search-001-ab");
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
  EXPECT_EQ(TrialRequest(settings.definitions[0], {"0.5", "3"}, "t").at("ResourceConfig"),
            json::object({{"InstanceType", "ml.m5.xlarge"},
                          {"InstanceCount", 2},
                          {"VolumeSizeInGB", 5},
                          {"VolumeKmsKeyId", "key"}}));
}

json::object AutotunedXgboost() {
  json::object request = SmallRequest();
  request["Autotune"] = {{"Mode", "Enabled"}};
  ConfigIn(request).erase("ParameterRanges");
  ConfigIn(request)["HyperParameterTuningJobObjective"] = {{"Type", "Minimize"},
                                                           {"MetricName", "validation:rmse"}};
  json::object& algorithm = DefinitionIn(request)["AlgorithmSpecification"].as_object();
  algorithm["TrainingImage"] =
      "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1";
  algorithm.erase("MetricDefinitions");
  DefinitionIn(request)["StaticHyperParameters"] = {{"num_round", "20"}};
  return request;
}

TEST(Autotune, ChoosesRangesOfXgboostThatAreNotStaticAndTheRest) {
  json::object request = AutotunedXgboost();
  ASSERT_TRUE(CompleteTuningRequest(request));
  const json::object once = request;
  ASSERT_TRUE(CompleteTuningRequest(request));
  EXPECT_EQ(request, once);
  const Settings settings = Read(request);
  EXPECT_EQ(settings.definitions[0].space.size(), 11u) << "twelve but num_round, which is static";
  EXPECT_TRUE(settings.median_rule);
  EXPECT_TRUE(settings.complete_on_convergence);
  EXPECT_EQ(DefinitionIn(request)["RetryStrategy"].at("MaximumRetryAttempts"), 3);
}

TEST(Autotune, MakesRangesOfHints) {
  json::object request = SmallRequest();
  request["Autotune"] = {{"Mode", "Enabled"}};
  ConfigIn(request)["ParameterRanges"] = {
      {"AutoParameters", json::array{json::object{{"Name", "rate"}, {"ValueHint", "0.3"}},
                                     json::object{{"Name", "layers"}, {"ValueHint", "5"}},
                                     json::object{{"Name", "seed"}, {"ValueHint", "0"}},
                                     json::object{{"Name", "scale"}, {"ValueHint", "20.0"}}}}};
  ASSERT_TRUE(CompleteTuningRequest(request));
  const json::object& ranges = ConfigIn(request)["ParameterRanges"].as_object();
  EXPECT_FALSE(ranges.contains("AutoParameters"));
  const auto bounds = [&](const char* kind, std::size_t i) {
    const json::object& range = ranges.at(kind).as_array()[i].as_object();
    return GetString(range, "Name") + " " + GetString(range, "MinValue") + ".." +
           GetString(range, "MaxValue") + " " + GetString(range, "ScalingType");
  };
  EXPECT_EQ(bounds("ContinuousParameterRanges", 0), "rate 0.03..1.0 Logarithmic");
  EXPECT_EQ(bounds("ContinuousParameterRanges", 1), "scale 2.0..200.0 Logarithmic");
  EXPECT_EQ(bounds("IntegerParameterRanges", 0), "layers 1..50 Logarithmic");
  EXPECT_EQ(bounds("IntegerParameterRanges", 1), "seed 0..10 Linear");
  EXPECT_EQ(Read(request).definitions[0].space.size(), 4u);
}

TEST(Autotune, NamesAHintThatItCannotUse) {
  json::object request = SmallRequest();
  ConfigIn(request)["ParameterRanges"] = {
      {"AutoParameters", json::array{json::object{{"Name", "kind"}, {"ValueHint", "gbtree"}}}}};
  EXPECT_THAT(Refusal(request), HasSubstr("'kind' has a hint and no range"));
  request["Autotune"] = {{"Mode", "Enabled"}};
  EXPECT_THAT(Refusal(request), HasSubstr("the ValueHint of 'kind' is 'gbtree'"));
}

}  // namespace
}  // namespace sabia::tuning
