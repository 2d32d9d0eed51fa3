// The median rule, completion criteria, Hyperband.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tuner/completion.h"
#include "tuner/early_stopping.h"
#include "tuner/hyperband.h"

namespace sabia::tuner {
namespace {

Trial WithCurve(std::int64_t number, std::vector<double> values) {
  Trial trial{.number = number};
  for (std::size_t i = 0; i < values.size(); ++i) {
    trial.curve.push_back({static_cast<std::int64_t>(i + 1), values[i]});
  }
  if (!values.empty()) trial.objective = values.back();
  return trial;
}

std::vector<Trial> WithObjectives(std::vector<double> values) {
  std::vector<Trial> trials;
  for (const double value : values) {
    trials.push_back({.number = static_cast<std::int64_t>(trials.size()), .objective = value});
  }
  return trials;
}

Space Line() { return *Space::Create({{.name = "x", .min = "0", .max = "1"}}); }

TEST(MedianRule, StopsWhatIsWorseThanTheMedianOfTheRunningAverages) {
  // Averages up to epoch 2: 3, 4, 8.
  const std::vector<Trial> previous = {WithCurve(0, {4, 2, 1}), WithCurve(1, {6, 2, 2}),
                                       WithCurve(2, {10, 6, 5})};
  const auto stop = MedianRule(WithCurve(3, {1, 4.1}), previous, {});
  ASSERT_TRUE(stop.has_value());
  EXPECT_EQ(stop->resource, 2);
  EXPECT_EQ(stop->median, 4);
  EXPECT_EQ(stop->value, 4.1);
  EXPECT_FALSE(MedianRule(WithCurve(3, {9, 4}), previous, {}).has_value());
  // For a maximum the sides change.
  EXPECT_TRUE(MedianRule(WithCurve(3, {9, 3.9}), previous, {.goal = Goal::kMaximize}).has_value());
  EXPECT_FALSE(MedianRule(WithCurve(3, {9, 4}), previous, {.goal = Goal::kMaximize}).has_value());
}

TEST(MedianRule, OnlyTrialsThatReachedTheEpochCount) {
  const std::vector<Trial> previous = {WithCurve(0, {4, 2, 1}), WithCurve(1, {6}),
                                       WithCurve(2, {10, 6, 5}), WithCurve(4, {})};
  EXPECT_FALSE(MedianRule(WithCurve(3, {1, 100}), previous, {}).has_value());
  const auto stop = MedianRule(WithCurve(3, {1, 100}), previous, {.previous_min = 2});
  ASSERT_TRUE(stop.has_value());
  EXPECT_EQ(stop->median, (3 + 8) / 2.0);
  EXPECT_FALSE(MedianRule(WithCurve(3, {}), previous, {.previous_min = 1}).has_value());
  EXPECT_FALSE(MedianRule(WithCurve(3, {100}), {}, {.previous_min = 0}).has_value());
}

TEST(MedianRule, NoNumberIsWorseThanAnyNumber) {
  const std::vector<Trial> previous = {WithCurve(0, {4}), WithCurve(1, {6}), WithCurve(2, {10})};
  EXPECT_TRUE(MedianRule(WithCurve(3, {std::nan("")}), previous, {}).has_value());
}

TEST(Completion, BestTrialIsTheFirstOfEquals) {
  auto trials = WithObjectives({3, 1, 2, 1});
  EXPECT_EQ(BestTrial(trials, Goal::kMinimize), 1u);
  EXPECT_EQ(BestTrial(trials, Goal::kMaximize), 0u);
  trials[1].outcome = Outcome::kFailed;
  EXPECT_EQ(BestTrial(trials, Goal::kMinimize), 3u);
  EXPECT_FALSE(BestTrial({}, Goal::kMinimize).has_value());
  EXPECT_FALSE(BestTrial(WithObjectives({std::nan("")}), Goal::kMinimize).has_value());
}

TEST(Completion, TargetIsInclusive) {
  EXPECT_TRUE(TargetReached(WithObjectives({3, 1}), Goal::kMinimize, 1));
  EXPECT_FALSE(TargetReached(WithObjectives({3, 1}), Goal::kMinimize, 0.99));
  EXPECT_TRUE(TargetReached(WithObjectives({3, 1}), Goal::kMaximize, 3));
  EXPECT_FALSE(TargetReached({}, Goal::kMaximize, 0));
}

TEST(Completion, LessThanOnePercentIsNoImprovement) {
  EXPECT_EQ(TrialsNotImproving(WithObjectives({100, 99.5, 99.1}), Goal::kMinimize), 2u);
  EXPECT_EQ(TrialsNotImproving(WithObjectives({100, 99.5, 99}), Goal::kMinimize), 0u);
  EXPECT_EQ(TrialsNotImproving(WithObjectives({0.5, 0.504, 0.506, 0.4}), Goal::kMaximize), 1u);
  EXPECT_EQ(TrialsNotImproving({}, Goal::kMaximize), 0u);
  EXPECT_TRUE(StoppedImproving(WithObjectives({1, 1, 1, 1}), Goal::kMinimize, 3));
  EXPECT_FALSE(StoppedImproving(WithObjectives({1, 1, 1}), Goal::kMinimize, 3));
}

TEST(Completion, ConvergedWhenTheLatestTrialsBroughtNothing) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(1 + 1.0 / (i + 1));
  EXPECT_FALSE(Converged(WithObjectives(values), Goal::kMinimize, Line()));
  values[5] = 0.9;
  EXPECT_TRUE(Converged(WithObjectives(values), Goal::kMinimize, Line()));
  values[35] = 0.8;
  EXPECT_FALSE(Converged(WithObjectives(values), Goal::kMinimize, Line()));
  values.resize(kConvergenceTrialsMin - 1);
  EXPECT_FALSE(Converged(WithObjectives(values), Goal::kMinimize, Line()));
}

TEST(Hyperband, BracketsAreThePublishedOnes) {
  // Table 1 of Li et al.: R = 81, eta = 3.
  const auto hyperband = Hyperband::Create(Line(), {.max_resource = 81});
  ASSERT_TRUE(hyperband.has_value());
  const auto& brackets = hyperband->brackets();
  ASSERT_EQ(brackets.size(), 5u);
  EXPECT_EQ(brackets[0].rungs, (std::vector<std::int64_t>{1, 3, 9, 27, 81}));
  EXPECT_EQ(brackets[2].rungs, (std::vector<std::int64_t>{9, 27, 81}));
  EXPECT_EQ(brackets[4].rungs, (std::vector<std::int64_t>{81}));
  const std::uint64_t shares[] = {81, 34, 15, 8, 5};
  for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(brackets[s].share, shares[s]);
  std::map<const Bracket*, std::uint64_t> dealt;
  for (int i = 0; i < 143; ++i) ++dealt[&hyperband->BracketOf(i)];
  for (const Bracket& bracket : brackets) EXPECT_EQ(dealt[&bracket], bracket.share);
}

TEST(Hyperband, ResourcesOutOfRangeAreRefusedByName) {
  const auto message = [](HyperbandOptions options) {
    const auto made = Hyperband::Create(Line(), options);
    EXPECT_FALSE(made.has_value());
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(message({.min_resource = 0}), "MinResource is 0; it must be at least 1");
  EXPECT_EQ(message({.min_resource = 5, .max_resource = 4}),
            "MaxResource is 4; it must be within 5 and 20000");
  EXPECT_EQ(message({.max_resource = 20001}),
            "MaxResource is 20001; it must be within 1 and 20000");
  EXPECT_NE(message({.max_resource = 4, .reduction = 1}), "");
}

TEST(Asha, StopsAllButTheBestThirdAtARung) {
  const auto asha = Hyperband::Create(Line(), {.max_resource = 9, .one_bracket = true});
  ASSERT_TRUE(asha.has_value());
  EXPECT_EQ(asha->brackets().size(), 1u);
  std::vector<Trial> others;
  // The first two have nobody to be compared with.
  EXPECT_EQ(asha->Judge(WithCurve(0, {5}), others), Verdict::kContinue);
  others.push_back(WithCurve(0, {5}));
  EXPECT_EQ(asha->Judge(WithCurve(1, {9}), others), Verdict::kContinue);
  others.push_back(WithCurve(1, {9}));
  EXPECT_EQ(asha->Judge(WithCurve(2, {6}), others), Verdict::kStop);
  EXPECT_EQ(asha->Judge(WithCurve(2, {4}), others), Verdict::kContinue);
  EXPECT_EQ(asha->Judge(WithCurve(2, {std::nan("")}), others), Verdict::kStop);
  // Between the rungs nobody is stopped, nor at the last one.
  EXPECT_EQ(asha->Judge(WithCurve(2, {6, 6}), others), Verdict::kContinue);
  std::vector<Trial> done;
  for (int i = 0; i < 5; ++i) done.push_back(WithCurve(i, std::vector<double>(9, 1.0)));
  EXPECT_EQ(asha->Judge(WithCurve(7, std::vector<double>(9, 2.0)), done), Verdict::kContinue);
}

TEST(Asha, TheGoalTurnsTheComparison) {
  const auto asha =
      Hyperband::Create(Line(), {.goal = Goal::kMaximize, .max_resource = 9, .one_bracket = true});
  const std::vector<Trial> others = {WithCurve(0, {0.5}), WithCurve(1, {0.6})};
  EXPECT_EQ(asha->Judge(WithCurve(2, {0.7}), others), Verdict::kContinue);
  EXPECT_EQ(asha->Judge(WithCurve(2, {0.55}), others), Verdict::kStop);
}

// Goal: with pauses, the best third of each rung is promoted, once each, from its own checkpoint.
TEST(Asha, PromotesTheBestFromTheirCheckpoints) {
  auto asha = Hyperband::Create(Line(), {.max_resource = 9, .one_bracket = true, .pauses = true});
  ASSERT_TRUE(asha.has_value());
  std::vector<Trial> finished;
  std::map<std::int64_t, int> trained;
  std::map<std::int64_t, int> continued;
  for (int i = 0; i < 40; ++i) {
    auto suggestion = asha->Suggest({finished, {}});
    ASSERT_TRUE(suggestion.has_value());
    Trial trial{.number = i, .values = suggestion->values};
    trial.resource = suggestion->resource;
    trial.continues = suggestion->continues;
    ++trained[*trial.resource];
    if (trial.continues) {
      EXPECT_EQ(++continued[*trial.continues], 1);
      const Trial& before = finished[static_cast<std::size_t>(*trial.continues)];
      EXPECT_EQ(before.values, trial.values);
      EXPECT_EQ(*before.resource * 3, *trial.resource);
    }
    trial.curve.push_back({*trial.resource, std::stod(trial.values[0])});
    finished.push_back(std::move(trial));
  }
  EXPECT_EQ(trained[1] + trained[3] + trained[9], 40);
  // A few more than a third: who was among the best once stays promoted.
  EXPECT_NEAR(trained[3], trained[1] / 3, 3);
  EXPECT_NEAR(trained[9], trained[3] / 3, 2);
  EXPECT_GE(trained[9], 2);
}

TEST(Asha, AFailedTrialIsNotPromoted) {
  auto asha = Hyperband::Create(Line(), {.max_resource = 3, .one_bracket = true, .pauses = true});
  std::vector<Trial> finished;
  for (int i = 0; i < 6; ++i) {
    finished.push_back({.number = i,
                        .values = {"0." + std::to_string(i)},
                        .outcome = i == 0 ? Outcome::kFailed : Outcome::kCompleted,
                        .curve = {{1, static_cast<double>(i)}},
                        .resource = 1});
  }
  const auto suggestion = asha->Suggest({finished, {}});
  EXPECT_EQ(suggestion->continues, 1);
  // While that one runs, the next best is promoted.
  const std::vector<Trial> pending = {
      {.number = 6, .values = {"0.1"}, .resource = 3, .continues = 1}};
  EXPECT_EQ(asha->Suggest({finished, pending})->continues, 2);
}

TEST(Hyperband, WithoutPausesEveryTrialAimsAtTheTop) {
  auto hyperband = Hyperband::Create(Line(), {.max_resource = 27});
  const auto suggestion = hyperband->Suggest({{}, {}});
  EXPECT_EQ(suggestion->resource, 27);
  EXPECT_FALSE(suggestion->continues.has_value());
}

}  // namespace
}  // namespace sabia::tuner
