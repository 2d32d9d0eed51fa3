#include "api/tuning_autotune.h"

#include <gtest/gtest.h>

#include "api/testing/small_tuning_request.h"
#include "api/tuning_job_rules.h"

namespace sabia::api {
namespace {

constexpr char kXgboost[] = R"({"Autotune": {"Mode": "Enabled"},
  "HyperParameterTuningJobConfig": {"ParameterRanges": null, "ResourceLimits":
     {"MaxNumberOfTrainingJobs": null},
     "HyperParameterTuningJobObjective": {"MetricName": "validation:rmse"}},
  "TrainingJobDefinition": {"StaticHyperParameters": {"epochs": null, "num_round": "50"},
     "AlgorithmSpecification": {"MetricDefinitions": null, "TrainingImage":
        "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"}}})";

json::object Tuned(std::string_view change, std::string_view more = "{}") {
  json::object request = SmallTuningRequest("t", change);
  MergeJson(request, *ParseJsonObject(more));
  const auto accepted = AcceptTuningRequest(model::InstanceCatalog::BuiltIn(), request);
  if (!accepted) ADD_FAILURE() << accepted.error().message;
  return request;
}

const json::object& RangesOf(const json::object& request) {
  return request.at("HyperParameterTuningJobConfig").at("ParameterRanges").get_object();
}

// The bounds of a range as "min..max scaling"; "" when there is none.
std::string Range(const json::object& request, std::string_view list, std::string_view name) {
  const json::array* ranges = FindArray(RangesOf(request), list);
  if (ranges == nullptr) return "";
  for (const json::value& value : *ranges) {
    const json::object& range = value.get_object();
    if (GetString(range, "Name") != name) continue;
    if (range.contains("Values")) return json::serialize(range.at("Values"));
    return GetString(range, "MinValue") + ".." + GetString(range, "MaxValue") + " " +
           GetString(range, "ScalingType");
  }
  return "";
}

TEST(Autotune, GivesABuiltInAlgorithmItsRecommendedRanges) {
  const json::object request = Tuned(kXgboost);
  EXPECT_EQ(Range(request, "ContinuousParameterRanges", "eta"), "0.1..0.5 Auto");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "max_depth"), "1..10 Auto");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "num_round"), "") << "it is static";
  const json::object& config = request.at("HyperParameterTuningJobConfig").get_object();
  EXPECT_EQ(config.at("ResourceLimits").at("MaxNumberOfTrainingJobs"), json::value(100));
  EXPECT_EQ(config.at("TrainingJobEarlyStoppingType"), json::value("Auto"));
  EXPECT_EQ(config.at("TuningJobCompletionCriteria").at("ConvergenceDetected"),
            json::value({{"CompleteOnConvergence", "Enabled"}}));
  EXPECT_EQ(request.at("TrainingJobDefinition").at("RetryStrategy").at("MaximumRetryAttempts"),
            json::value(3));
}

TEST(Autotune, MakesRangesAroundHints) {
  const json::object request = Tuned(R"({"Autotune": {"Mode": "Enabled"},
    "HyperParameterTuningJobConfig": {"ParameterRanges": {"IntegerParameterRanges": null,
      "AutoParameters": [
      {"Name": "units", "ValueHint": "64"}, {"Name": "decay", "ValueHint": "0.01"},
      {"Name": "momentum", "ValueHint": "0.9"}, {"Name": "shift", "ValueHint": "0"},
      {"Name": "nesterov", "ValueHint": "True"}, {"Name": "optimizer", "ValueHint": "adam"},
      {"Name": "rate", "ValueHint": "7"},
      {"Name": "sagemaker_container_log_level", "ValueHint": "20"}]}}})");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "units"), "6..640 Logarithmic");
  EXPECT_EQ(Range(request, "ContinuousParameterRanges", "decay"), "0.001..0.1 Logarithmic");
  EXPECT_EQ(Range(request, "ContinuousParameterRanges", "momentum"),
            "0.0..0.99 ReverseLogarithmic");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "shift"), "0..10 Auto");
  EXPECT_EQ(Range(request, "CategoricalParameterRanges", "nesterov"), R"(["True","False"])");
  EXPECT_EQ(Range(request, "ContinuousParameterRanges", "rate"), "0.001..0.1 ") << "it was given";
  const json::object& fixed =
      request.at("TrainingJobDefinition").at("StaticHyperParameters").get_object();
  EXPECT_EQ(fixed.at("optimizer"), json::value("adam"));
  EXPECT_EQ(fixed.at("sagemaker_container_log_level"), json::value("20"));
  EXPECT_EQ(RangesOf(request).at("AutoParameters").get_array().size(), 8u) << "kept for Describe";
}

TEST(Autotune, KnowsTheNamesOfABuiltInAlgorithm) {
  const json::object request = Tuned(kXgboost, R"({
    "TrainingJobDefinition": {"StaticHyperParameters": {"num_round": null}},
    "HyperParameterTuningJobConfig": {"ParameterRanges": {"AutoParameters": [
      {"Name": "eta", "ValueHint": "0.7"}, {"Name": "num_round", "ValueHint": "20"},
      {"Name": "verbosity", "ValueHint": "1"},
      {"Name": "objective", "ValueHint": "reg:linear"}]}}})");
  EXPECT_EQ(Range(request, "ContinuousParameterRanges", "eta"), "0.1..0.7 Auto");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "num_round"), "2..200 Logarithmic");
  EXPECT_EQ(Range(request, "IntegerParameterRanges", "verbosity"), "");
  EXPECT_EQ(request.at("TrainingJobDefinition").at("StaticHyperParameters").at("verbosity"),
            json::value("1"));
  EXPECT_EQ(request.at("HyperParameterTuningJobConfig")
                .at("ResourceLimits")
                .at("MaxNumberOfTrainingJobs"),
            json::value(20));
}

TEST(Autotune, LeavesWhatWasGiven) {
  const json::object request = Tuned(R"({"Autotune": {"Mode": "Enabled"},
    "HyperParameterTuningJobConfig": {"TrainingJobEarlyStoppingType": "Off",
      "TuningJobCompletionCriteria": {"ConvergenceDetected":
         {"CompleteOnConvergence": "Disabled"}}},
    "TrainingJobDefinition": {"RetryStrategy": {"MaximumRetryAttempts": 1}}})");
  const json::object& config = request.at("HyperParameterTuningJobConfig").get_object();
  EXPECT_EQ(config.at("ResourceLimits").at("MaxNumberOfTrainingJobs"), json::value(10));
  EXPECT_EQ(config.at("TrainingJobEarlyStoppingType"), json::value("Off"));
  EXPECT_EQ(config.at("TuningJobCompletionCriteria").at("ConvergenceDetected"),
            json::value({{"CompleteOnConvergence", "Disabled"}}));
  EXPECT_EQ(request.at("TrainingJobDefinition").at("RetryStrategy").at("MaximumRetryAttempts"),
            json::value(1));
}

TEST(Autotune, SaysWhenNothingIsLeftToTune) {
  json::object request = SmallTuningRequest("t", R"({"Autotune": {"Mode": "Enabled"},
    "HyperParameterTuningJobConfig": {"ParameterRanges": null}})");
  const auto accepted = AcceptTuningRequest(model::InstanceCatalog::BuiltIn(), request);
  ASSERT_FALSE(accepted.has_value());
  EXPECT_TRUE(
      accepted.error().message.starts_with("Autotune finds nothing to tune in "
                                           "TrainingJobDefinition"))
      << accepted.error().message;
}

}  // namespace
}  // namespace sabia::api
