#include "api/tuning_job_rules.h"

#include <gtest/gtest.h>

#include "api/testing/small_tuning_request.h"
#include "wire/schema.h"

namespace sabia::api {
namespace {

const model::InstanceCatalog& Instances() {
  static const model::InstanceCatalog catalog = model::InstanceCatalog::BuiltIn();
  return catalog;
}

// What CreateHyperParameterTuningJob says before it looks at buckets and other jobs.
std::string Judge(json::object request) {
  const auto check = [&]() -> wire::AwsResult<void> {
    RETURN_IF_ERROR(wire::Validate(
        *wire::FindService("sagemaker")->FindOperation("CreateHyperParameterTuningJob")->input,
        request));
    return AcceptTuningRequest(Instances(), request);
  };
  const auto checked = check();
  return checked ? "accepted" : checked.error().code + ": " + checked.error().message;
}

std::string Refusal(std::string_view change) { return Judge(SmallTuningRequest("t", change)); }

std::string Config(std::string_view inside) {
  return fmt::format(R"({{"HyperParameterTuningJobConfig": {{{}}}}})", inside);
}
std::string Definition(std::string_view inside) {
  return fmt::format(R"({{"TrainingJobDefinition": {{{}}}}})", inside);
}
std::string Ranges(std::string_view inside) {
  return Config(fmt::format(
      R"("ParameterRanges": {{"ContinuousParameterRanges": null,
                              "IntegerParameterRanges": null, {}}})",
      inside));
}

constexpr char kGrid[] =
    R"("Strategy": "Grid", "ParameterRanges": {"ContinuousParameterRanges": null,
       "IntegerParameterRanges": null, "CategoricalParameterRanges":
       [{"Name": "a", "Values": ["1", "2"]}, {"Name": "b", "Values": ["x", "y", "z"]}]},
       "ResourceLimits": )";

TEST(TuningJobRules, TheSmallRequestsAreAccepted) {
  EXPECT_EQ(Refusal("{}"), "accepted");
  EXPECT_EQ(Judge(TwoDefinitionsRequest("t")), "accepted");
}

struct RuleCase {
  std::string change;
  const char* expected;  // the beginning of the answer
};

class TuningJobRule : public ::testing::TestWithParam<RuleCase> {};

TEST_P(TuningJobRule, IsSaid) {
  const std::string said = Refusal(GetParam().change);
  EXPECT_EQ(said.substr(0, std::string_view(GetParam().expected).size()), GetParam().expected)
      << said;
}

const RuleCase kPlaces[] = {
    {R"({"TrainingJobDefinition": null})",
     "ValidationException: One of TrainingJobDefinition and TrainingJobDefinitions must be given"},
    {Config(R"("HyperParameterTuningJobObjective": null)"),
     "ValidationException: 1 validation error detected: Value null at "
     "'hyperParameterTuningJobConfig.hyperParameterTuningJobObjective'"},
    {Config(R"("ParameterRanges": null)"),
     "ValidationException: 1 validation error detected: Value null at "
     "'hyperParameterTuningJobConfig.parameterRanges'"},
    {Definition(R"("TuningObjective": {"Type": "Minimize", "MetricName": "loss"})"),
     "ValidationException: Only one of HyperParameterTuningJobObjective in"},
    {Definition(R"("HyperParameterRanges": {})"),
     "ValidationException: Only one of ParameterRanges in"},
    {Definition(R"("ResourceConfig": null)"),
     "ValidationException: 1 validation error detected: Value null at 'resourceConfig'"},
    {Definition(R"("HyperParameterTuningResourceConfig": {})"),
     "ValidationException: Only one of ResourceConfig and HyperParameterTuningResourceConfig"},
    {Definition(R"("ResourceConfig": null, "HyperParameterTuningResourceConfig":
                    {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 3})"),
     "accepted"},
    {Definition(R"("ResourceConfig": null, "HyperParameterTuningResourceConfig":
                    {"InstanceType": "ml.m5.large", "InstanceConfigs": [{"InstanceType":
                     "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 3}]})"),
     "ValidationException: InstanceConfigs cannot be combined with InstanceType"},
    {Definition(R"("ResourceConfig": null, "HyperParameterTuningResourceConfig":
                    {"AllocationStrategy": "Prioritized", "InstanceConfigs": [{"InstanceType":
                     "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 3}]})"),
     "accepted"},
    {Definition(R"("ResourceConfig": null, "HyperParameterTuningResourceConfig":
                    {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 3,
                     "AllocationStrategy": "Prioritized"})"),
     "ValidationException: AllocationStrategy in HyperParameterTuningResourceConfig needs"},
};
INSTANTIATE_TEST_SUITE_P(Places, TuningJobRule, ::testing::ValuesIn(kPlaces));

const RuleCase kRanges[] = {
    {Ranges(R"("IntegerParameterRanges": [])"),
     "ValidationException: There is no hyperparameter to tune"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "", "MinValue": "0", "MaxValue": "1"}])"),
     "ValidationException: A hyperparameter range has no Name"},
    {Ranges(
         R"("ContinuousParameterRanges": [{"Name": "epochs", "MinValue": "0", "MaxValue": "1"}])"),
     "ValidationException: Hyperparameter 'epochs' has a range and is in StaticHyperParameters "
     "('10')"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "2", "MaxValue": "1"}])"),
     "ValidationException: parameter 'x': the minimum 2 is above the maximum 1"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "a", "MaxValue": "1"}])"),
     "ValidationException: parameter 'x': bound 'a' is no finite number"},
    {Ranges(R"("IntegerParameterRanges": [{"Name": "x", "MinValue": "0.5", "MaxValue": "1"}])"),
     "ValidationException: parameter 'x': bound '0.5' is no integer"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1",
                                              "ScalingType": "Logarithmic"}])"),
     "ValidationException: parameter 'x': Logarithmic scaling needs a minimum above 0, not 0"},
    {Ranges(R"("IntegerParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1",
                                           "ScalingType": "ReverseLogarithmic"}])"),
     "ValidationException: parameter 'x': ReverseLogarithmic scaling needs a continuous range"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1.0",
                                              "ScalingType": "ReverseLogarithmic"}])"),
     "ValidationException: parameter 'x': ReverseLogarithmic scaling needs a continuous range "
     "within 0 <= x < 1, not 0 to 1.0"},
    {Ranges(R"("CategoricalParameterRanges": [{"Name": "x", "Values": ["a", "a"]}])"),
     "ValidationException: parameter 'x' has the value 'a' twice"},
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1"}],
               "IntegerParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1"}])"),
     "ValidationException: parameter 'x' has two ranges"},
    {Ranges(R"("CategoricalParameterRanges": [{"Name": "x", "Values": ["a", "b", "c"]}])"),
     "ValidationException: You don't have enough combinations of hyperparameter ranges. The total "
     "number of hyperparameter combinations for the provided ranges [3.0] must be equal or greater "
     "than the value of MaxNumberOfJobs, [10]. Provide additional ranges."},
    // Singletons are constants.
    {Ranges(R"("ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1"}],
               "IntegerParameterRanges": [{"Name": "y", "MinValue": "1", "MaxValue": "1"}],
               "CategoricalParameterRanges": [{"Name": "z", "Values": ["a"]}])"),
     "accepted"},
};
INSTANTIATE_TEST_SUITE_P(Ranges, TuningJobRule, ::testing::ValuesIn(kRanges));

const RuleCase kStrategies[] = {
    {Config(std::string(kGrid) +
            R"({"MaxNumberOfTrainingJobs": null, "MaxParallelTrainingJobs": 1})"),
     "accepted"},
    {Config(std::string(kGrid) + R"({"MaxNumberOfTrainingJobs": 6})"), "accepted"},
    {Config(std::string(kGrid) + R"({"MaxNumberOfTrainingJobs": 10})"),
     "ValidationException: Strategy Grid: MaxNumberOfTrainingJobs is left out or equals the number "
     "of combinations, 2 (a) x 3 (b) = 6, not 10"},
    {Config(R"("Strategy": "Grid")"),
     "ValidationException: Strategy Grid: parameter 'depth': a grid takes categorical ranges only"},
    {Config(R"("Strategy": "Hyperband")"), "accepted"},
    {Config(R"("Strategy": "Hyperband", "TrainingJobEarlyStoppingType": "Auto")"),
     "ValidationException: TrainingJobEarlyStoppingType must be Off with strategy Hyperband"},
    {R"({"HyperParameterTuningJobConfig": {"Strategy": "Hyperband"},
         "TrainingJobDefinition": {"StaticHyperParameters": {"epochs": null}}})",
     "ValidationException: Strategy Hyperband needs MaxResource"},
    {R"({"HyperParameterTuningJobConfig": {"Strategy": "Hyperband"},
         "TrainingJobDefinition": {"StaticHyperParameters": {"epochs": "many"}}})",
     "ValidationException: Strategy Hyperband cannot infer MaxResource from the static "
     "hyperparameter 'epochs': 'many' is no integer"},
    {R"({"HyperParameterTuningJobConfig": {"Strategy": "Hyperband"},
         "TrainingJobDefinition": {"StaticHyperParameters": {"epochs": "\"30\""}}})",
     "accepted"},
    {Config(R"("Strategy": "Hyperband", "StrategyConfig": {"HyperbandStrategyConfig":
               {"MaxResource": 20001}})"),
     "ValidationException: MaxResource of strategy Hyperband is 20001; it must be within 1 and "
     "20000"},
    {Config(R"("Strategy": "Hyperband", "StrategyConfig": {"HyperbandStrategyConfig":
               {"MinResource": 11}})"),
     "ValidationException: MinResource of strategy Hyperband is 11, which is above MaxResource, "
     "10"},
    {Config(R"("StrategyConfig": {"HyperbandStrategyConfig": {"MaxResource": 5}})"),
     "ValidationException: StrategyConfig can be given only with strategy Hyperband, not with "
     "Bayesian"},
};
INSTANTIATE_TEST_SUITE_P(Strategies, TuningJobRule, ::testing::ValuesIn(kStrategies));

const RuleCase kLimits[] = {
    {Config(R"("ResourceLimits": {"MaxNumberOfTrainingJobs": 751})"),
     "ResourceLimitExceeded: The request delta of 751 Training jobs for 'Number of training jobs "
     "per hyperparameter tuning job' is greater than the account-level service-limit of 750"},
    {Config(R"("ResourceLimits": {"MaxParallelTrainingJobs": 101})"),
     "ResourceLimitExceeded: The request delta of 101 Training jobs for 'Number of parallel"},
    {Config(R"("ResourceLimits": {"MaxNumberOfTrainingJobs": null})"),
     "ValidationException: MaxNumberOfTrainingJobs in ResourceLimits must be given with strategy "
     "Bayesian"},
    {Config(R"("ResourceLimits": {"MaxNumberOfTrainingJobs": null, "MaxRuntimeInSeconds": 600})"),
     "accepted"},
    {Config(R"("ResourceLimits": {"MaxRuntimeInSeconds": 119})"),
     "ValidationException: 1 validation error detected: Value '119' at "
     "'hyperParameterTuningJobConfig.resourceLimits.maxRuntimeInSeconds'"},
    {Config(R"("TuningJobCompletionCriteria": {"TargetObjectiveMetricValue": "NaN"})"),
     "ValidationException: TargetObjectiveMetricValue in TuningJobCompletionCriteria must be a "
     "finite number"},
    {Config(R"("TuningJobCompletionCriteria": {"TargetObjectiveMetricValue": 0.5,
               "BestObjectiveNotImproving": {"MaxNumberOfTrainingJobsNotImproving": 3},
               "ConvergenceDetected": {"CompleteOnConvergence": "Enabled"}}, "RandomSeed": 7)"),
     "accepted"},
    {R"({"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]})",
     "ValidationException: Tag keys must be unique, and 'a' is given twice"},
};
INSTANTIATE_TEST_SUITE_P(Limits, TuningJobRule, ::testing::ValuesIn(kLimits));

const RuleCase kDefinitions[] = {
    {Config(R"("HyperParameterTuningJobObjective": {"MetricName": "accuracy"})"),
     "ValidationException: A metric is required for this hyperparameter tuning job objective. "
     "Provide a metric in the metric definitions. The objective is 'accuracy', and the metric "
     "definitions have loss."},
    {Definition(R"("AlgorithmSpecification": {"MetricDefinitions": null})"),
     "ValidationException: A metric is required for this hyperparameter tuning job objective. "
     "Provide a metric in the metric definitions."},
    {Definition(R"("StaticHyperParameters": {"_tuning_objective_metric": "other"})"),
     "ValidationException: Static hyperparameter '_tuning_objective_metric' is 'other', and the "
     "objective is 'loss'"},
    {Definition(R"("StoppingCondition": {"MaxWaitTimeInSeconds": 7200})"),
     "ValidationException: Invalid MaxWaitTimeInSeconds. It is only supported when "
     "EnableManagedSpotTraining is set to true"},
    {Definition(R"("AlgorithmSpecification": {"TrainingImage": "nobody/knows:1"})"),
     "ValidationException: "},
    {Definition(R"("AlgorithmSpecification": {"AlgorithmName": "mine"})"),
     "ValidationException: AlgorithmSpecification.AlgorithmName is not supported"},
    {Definition(R"("ResourceConfig": {"TrainingPlanArn":
                    "arn:aws:sagemaker:us-west-2:123456789012:training-plan/x"})"),
     "ValidationException: ResourceConfig.TrainingPlanArn is not supported"},
    {Config(R"("ParameterRanges": {"AutoParameters": [{"Name": "z", "ValueHint": "1"}]})"),
     "ValidationException: AutoParameters can be given only with Autotune"},
};
INSTANTIATE_TEST_SUITE_P(Definitions, TuningJobRule, ::testing::ValuesIn(kDefinitions));

// Goal: the rules between several definitions, each said by name.
TEST(TuningJobRules, SeveralDefinitionsGoTogether) {
  const auto judge = [](std::string_view change) {
    return Judge(TwoDefinitionsRequest("t", change));
  };
  const auto change_second = [](std::string_view change) {
    json::object request = TwoDefinitionsRequest("t");
    MergeJson(request["TrainingJobDefinitions"].get_array()[1].get_object(),
              *ParseJsonObject(change));
    return Judge(std::move(request));
  };
  EXPECT_TRUE(judge(Config(R"("HyperParameterTuningJobObjective": {"Type": "Minimize",
                                                           "MetricName": "loss"})"))
                  .starts_with("ValidationException: HyperParameterTuningJobObjective in "
                               "HyperParameterTuningJobConfig cannot be combined"));
  EXPECT_TRUE(judge(Config(R"("TrainingJobEarlyStoppingType": "Auto")"))
                  .starts_with("ValidationException: TrainingJobEarlyStoppingType Auto is"));
  EXPECT_TRUE(judge(R"({"WarmStartConfig": {"WarmStartType": "TransferLearning",
                 "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "p"}]}})")
                  .starts_with("ValidationException: WarmStartConfig is available only"));
  EXPECT_EQ(change_second(R"({"DefinitionName": "a"})"),
            "ValidationException: DefinitionName must be unique, and 'a' is given twice");
  EXPECT_TRUE(change_second(R"({"DefinitionName": null})")
                  .find("'trainingJobDefinitions.2.member.definitionName'") != std::string::npos);
  EXPECT_TRUE(change_second(R"({"TuningObjective": null})")
                  .find("'trainingJobDefinitions.2.member.tuningObjective'") != std::string::npos);
  EXPECT_TRUE(
      change_second(R"({"TuningObjective": {"Type": "Maximize"}})")
          .starts_with("ValidationException: The Type of TuningObjective must be the same"));
  EXPECT_TRUE(
      change_second(R"({"ResourceConfig": {"InstanceCount": 0}})")
          .starts_with("ValidationException: TrainingJobDefinitions[2] ('b'): InstanceCount in"));
}

TEST(TuningJobRules, DefaultsAreThoseOfTrainingJobsAndComeOnce) {
  json::object request = SmallTuningRequest("t", Definition(R"(
      "AlgorithmSpecification": {"TrainingImage":
        "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1",
        "MetricDefinitions": null})"));
  request["HyperParameterTuningJobConfig"].get_object()["HyperParameterTuningJobObjective"] = {
      {"Type", "Minimize"}, {"MetricName", "validation:rmse"}};
  ASSERT_TRUE(AcceptTuningRequest(Instances(), request).has_value());
  const json::object once = request;
  CompleteTuningRequest(request);
  EXPECT_EQ(json::value(once), json::value(request));
  const json::object& definition = once.at("TrainingJobDefinition").get_object();
  EXPECT_EQ(definition.at("StaticHyperParameters"),
            json::value({{"epochs", "10"}, {"_tuning_objective_metric", "validation:rmse"}}));
  EXPECT_GT(definition.at("AlgorithmSpecification").at("MetricDefinitions").get_array().size(),
            10u);
  EXPECT_EQ(definition.at("OutputDataConfig").at("CompressionType"), json::value("GZIP"));
  EXPECT_EQ(once.at("HyperParameterTuningJobConfig").at("TrainingJobEarlyStoppingType"),
            json::value("Off"));
  EXPECT_FALSE(definition.contains("HyperParameters"));
}

TEST(TuningJobRules, NotesNameTheDefinition) {
  json::object request = TwoDefinitionsRequest("t");
  request["TrainingJobDefinitions"].get_array()[1].get_object()["EnableManagedSpotTraining"] = true;
  ASSERT_TRUE(AcceptTuningRequest(Instances(), request).has_value());
  const auto notes = NotesOnTuningRequest(Instances(), request);
  ASSERT_FALSE(notes.empty());
  EXPECT_TRUE(notes[0].starts_with("b: spot without CheckpointConfig"));
}

}  // namespace
}  // namespace sabia::api
