#include "api/warm_start_rules.h"

#include <gtest/gtest.h>

#include "api/testing/small_tuning_request.h"
#include "api/tuning_job_rules.h"

namespace sabia::api {
namespace {

json::object Accepted(std::string_view change) {
  json::object request = SmallTuningRequest("t", change);
  const auto accepted = AcceptTuningRequest(model::InstanceCatalog::BuiltIn(), request);
  if (!accepted) ADD_FAILURE() << accepted.error().message;
  return request;
}

std::string WithParent(std::string_view parent, std::string_view change,
                       model::TuningPhase phase = model::TuningPhase::kCompleted) {
  const model::TuningJob job{.name = "p", .request = Accepted(parent), .phase = phase};
  const auto checked = CheckWarmStart(Accepted(change), {job});
  return checked ? "accepted" : checked.error().message;
}

constexpr char kWiderRange[] = R"({"HyperParameterTuningJobConfig": {"ParameterRanges":
  {"IntegerParameterRanges": [{"Name": "depth", "MinValue": "10", "MaxValue": "40"}]}}})";
constexpr char kColours[] = R"({"HyperParameterTuningJobConfig": {"ParameterRanges":
  {"CategoricalParameterRanges": [{"Name": "colour", "Values":
     ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]}]}}})";

TEST(WarmStart, RangesMayChangeAndSoMayWhatSdksSet) {
  EXPECT_EQ(WithParent("{}", kWiderRange), "accepted");
  EXPECT_EQ(WithParent("{}", R"({"TrainingJobDefinition":
      {"StaticHyperParameters": {"sagemaker_job_name": "\"x\""}}})"),
            "accepted");
}

TEST(WarmStart, ParentsMustHaveEnded) {
  EXPECT_TRUE(WithParent("{}", "{}", model::TuningPhase::kRunning)
                  .starts_with("Parent tuning job 'p' is in status InProgress"));
  EXPECT_EQ(WithParent("{}", "{}", model::TuningPhase::kFailed), "accepted");
}

TEST(WarmStart, TheObjectiveMustBeTheParents) {
  const std::string said = WithParent(
      R"({"HyperParameterTuningJobConfig": {"HyperParameterTuningJobObjective":
          {"Type": "Maximize"}}})",
      "{}");
  EXPECT_TRUE(said.find("Type is 'Minimize', and 'Maximize' in parent 'p'") != std::string::npos)
      << said;
}

TEST(WarmStart, DifferingNamesAreListed) {
  EXPECT_EQ(WithParent(R"({"TrainingJobDefinition": {"StaticHyperParameters": {"old": "1"}}})",
                       R"({"TrainingJobDefinition": {"StaticHyperParameters": {"new": "1"}}})"),
            "The static and tunable hyperparameters of a warm start tuning job must be those of "
            "its parents. Parent 'p': only the parent has old; the parent does not have new");
}

TEST(WarmStart, TypesStay) {
  EXPECT_EQ(WithParent("{}", R"({"HyperParameterTuningJobConfig": {"ParameterRanges":
       {"IntegerParameterRanges": null, "ContinuousParameterRanges":
         [{"Name": "rate", "MinValue": "0.1", "MaxValue": "1"},
          {"Name": "depth", "MinValue": "1", "MaxValue": "10"}]}}})"),
            "The type of a hyperparameter must not change in a warm start tuning job: 'depth' is "
            "continuous, and integer in parent 'p'");
}

TEST(WarmStart, ChangesAreCountedAsTheGuideCounts) {
  // A changed static value counts twice, each category of a parameter that becomes static once.
  EXPECT_EQ(
      WithParent("{}", R"({"TrainingJobDefinition": {"StaticHyperParameters": {"epochs": "11"}}})"),
      "accepted");
  const std::string said = WithParent(
      kColours, R"({"TrainingJobDefinition": {"StaticHyperParameters": {"colour": "1"}}})");
  EXPECT_TRUE(said.find("at most 10 ways") != std::string::npos &&
              said.ends_with("parent 'p' there are 11"))
      << said;
}

TEST(WarmStart, AParentIsGivenOnce) {
  const model::TuningJob job{
      .name = "p", .request = Accepted("{}"), .phase = model::TuningPhase::kCompleted};
  const auto checked = CheckWarmStart(Accepted("{}"), {job, job});
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().message, "Parent tuning job 'p' is given twice");
}

}  // namespace
}  // namespace sabia::api
