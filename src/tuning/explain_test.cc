#include "tuning/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "tuning/testing/requests.h"

namespace sabia::tuning {
namespace {

Settings SettingsOf(const json::object& request) {
  auto settings = ReadSettings(model::InstanceCatalog::BuiltIn(), request);
  CHECK_MSG(settings.has_value(), settings.error().message);
  return std::move(*settings);
}

TrialView Ended(int number, double x, int depth) {
  TrialView view;
  view.trial.training_job = fmt::format("search-{:03}-0", number);
  view.trial.tuning_job = "search";
  view.trial.number = number;
  view.trial.parameters = {{"depth", fmt::format("{}", depth)}, {"x", fmt::format("{}", x)}};
  view.trial.result = model::TrialResult::kCompleted;
  view.trial.objective_status = model::ObjectiveStatus::kSucceeded;
  view.trial.objective = 10 * std::pow(x - 0.5, 2);  // depth does not matter
  view.trial.finished = number;
  return view;
}

std::vector<TrialView> SomeTrials() {
  std::vector<TrialView> out;
  for (int number = 1; number <= 12; ++number) {
    out.push_back(Ended(number, 0.08 * number, 1 + number * 5 % 8));
  }
  return out;
}

TEST(ExplainSearch, TellsWhatIsExpectedAndWhatMatters) {
  const Settings settings = SettingsOf(testing::SmallRequest());
  std::vector<TrialView> trials = SomeTrials();
  TrialView running = Ended(13, 0.5, 3);
  running.trial.result = model::TrialResult::kInProgress;
  running.trial.objective.reset();
  running.trial.finished = 0;
  trials.push_back(running);
  const auto accounts = Explain({settings, 1, trials, {}});
  ASSERT_EQ(accounts.size(), 1u);
  ASSERT_EQ(accounts[0].trials.size(), 13u);
  EXPECT_EQ(accounts[0].trials[12].trial->number, 13);
  ASSERT_TRUE(accounts[0].trials[12].expectation.has_value());
  EXPECT_NEAR(accounts[0].trials[12].expectation->objective, 0, 0.3);
  ASSERT_EQ(accounts[0].importances.size(), 2u);
  EXPECT_EQ(accounts[0].importances[0].parameter, "x");
  EXPECT_GT(accounts[0].importances[0].share, 0.9);
}

TEST(ExplainSearch, NumbersFailuresAsTheTuningJobDoes) {
  json::object request = testing::SmallRequest();
  const json::object config = testing::ConfigIn(request);
  json::object definition = testing::DefinitionIn(request);
  definition["TuningObjective"] = config.at("HyperParameterTuningJobObjective");
  definition["HyperParameterRanges"] = config.at("ParameterRanges");
  definition["DefinitionName"] = "a";
  json::array both{definition};
  definition["DefinitionName"] = "b";
  both.push_back(std::move(definition));
  request.erase("TrainingJobDefinition");
  request["TrainingJobDefinitions"] = std::move(both);
  const Settings settings = SettingsOf(request);
  std::vector<TrialView> trials = SomeTrials();
  for (TrialView& view : trials) view.trial.definition = view.trial.number % 2 == 0 ? "b" : "a";
  for (const int number : {4, 8}) {
    model::TuningTrial& trial = trials[static_cast<std::size_t>(number - 1)].trial;
    trial.result = model::TrialResult::kNonRetryableError;
    trial.objective_status = model::ObjectiveStatus::kFailed;
    trial.objective.reset();
    trial.failure = fmt::format("AlgorithmError: x\nCommand \"p -x {}\"\nLog stream: s-{} of g",
                                number, number);
  }
  trials[1].trial.objective.reset();  // number 2 said nothing
  const auto accounts = Explain({settings, 1, trials, {}});
  ASSERT_EQ(accounts.size(), 2u);
  EXPECT_TRUE(accounts[0].failures.empty());
  ASSERT_EQ(accounts[1].failures.size(), 1u);
  EXPECT_EQ(accounts[1].failures[0].failure, "AlgorithmError: x");
  EXPECT_EQ(accounts[1].failures[0].trials, (std::vector<int>{4, 8}));
  EXPECT_EQ(accounts[1].without_metric, 1u);
  EXPECT_EQ(accounts[1].trials.size(), 6u);
}

TEST(ExplainSearch, ExpectsNothingBeforeTrialsHaveEnded) {
  const Settings settings = SettingsOf(testing::SmallRequest());
  const auto accounts = Explain({settings, 1, {}, {}});
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_TRUE(accounts[0].trials.empty());
  EXPECT_TRUE(accounts[0].importances.empty());
}

}  // namespace
}  // namespace sabia::tuning
