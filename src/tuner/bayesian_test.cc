#include "tuner/bayesian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tuner/explain.h"
#include "tuner/random_search.h"
#include "tuner/testing/search.h"
#include "tuner/trust_region.h"

namespace sabia::tuner {
namespace {

Space Make(std::vector<ParameterRange> ranges) { return *Space::Create(std::move(ranges)); }

ParameterRange Unit(std::string name) { return {.name = std::move(name), .min = "0", .max = "1"}; }

// A learning rate, a depth, an activation, and a constant.
Space Mixed() {
  return Make({{.name = "rate", .min = "1e-5", .max = "1", .scaling = Scaling::kAuto},
               {.name = "depth", .kind = ParameterKind::kInteger, .min = "1", .max = "12"},
               {.name = "activation",
                .kind = ParameterKind::kCategorical,
                .values = {"relu", "tanh", "gelu", "none"}},
               {.name = "fixed", .kind = ParameterKind::kInteger, .min = "7", .max = "7"}});
}

// Best 0 at rate 0.01, depth 5, gelu.
double MixedLoss(const Configuration& values) {
  const double activation = values[2] == "gelu" ? 0 : values[2] == "relu" ? 0.3 : 1;
  return std::abs(std::log10(NumberAt(values, 0)) + 2) +
         0.1 * std::pow(NumberAt(values, 1) - 5, 2) + activation;
}

double BestOf(const std::vector<Trial>& trials) {
  double best = 1e300;
  for (const Trial& trial : trials) best = std::min(best, trial.objective.value_or(1e300));
  return best;
}

TEST(Bayesian, FindsTheBestOfAMixedSpace) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Bayesian search(Mixed(), {.seed = seed});
    const auto trials = RunSearch(search, {.trials = 40}, MixedLoss);
    EXPECT_LT(BestOf(trials), 0.1) << seed;
  }
}

TEST(Bayesian, MaximisesAsItMinimises) {
  Bayesian down(Mixed(), {.seed = 4});
  Bayesian up(Mixed(), {.seed = 4, .goal = Goal::kMaximize});
  const auto low = RunSearch(down, {.trials = 20}, MixedLoss);
  const auto high = RunSearch(up, {.trials = 20}, [](const auto& v) { return -MixedLoss(v); });
  for (std::size_t i = 0; i < low.size(); ++i) EXPECT_EQ(low[i].values, high[i].values) << i;
}

TEST(Bayesian, ValuesStayWithinTheirRanges) {
  const Space space = Mixed();
  Bayesian search(space, {.seed = 1});
  for (const Trial& trial : RunSearch(search, {.trials = 30, .parallel = 3}, MixedLoss)) {
    const auto point = space.Encode(trial.values);
    ASSERT_TRUE(point.has_value());
    EXPECT_EQ(trial.values[3], "7");
    for (const double coordinate : *point) {
      EXPECT_GE(coordinate, 0);
      EXPECT_LE(coordinate, 1);
    }
  }
}

// Goal: a killed daemon suggests what it would have suggested.
// Method: at every length of the history, a new strategy against the one that has seen it grow.
TEST(Bayesian, ARestartChangesNothing) {
  const BayesianOptions options{.seed = 11};
  Bayesian search(Mixed(), options);
  std::vector<Trial> finished;
  for (int i = 0; i < 35; ++i) {
    const auto suggestion = search.Suggest({finished, {}});
    Bayesian restarted(Mixed(), options);
    ASSERT_EQ(restarted.Suggest({finished, {}})->values, suggestion->values) << i;
    finished.push_back(
        {.number = i, .values = suggestion->values, .objective = MixedLoss(suggestion->values)});
  }
}

TEST(Bayesian, ARestartWithPendingTrialsChangesNothing) {
  const BayesianOptions options{.seed = 3};
  Bayesian search(Mixed(), options);
  const auto finished = RunSearch(search, {.trials = 14, .parallel = 4}, MixedLoss);
  std::vector<Trial> pending;
  std::set<Configuration> distinct;
  for (int i = 0; i < 5; ++i) {
    const auto suggestion = search.Suggest({finished, pending});
    Bayesian restarted(Mixed(), options);
    EXPECT_EQ(restarted.Suggest({finished, pending})->values, suggestion->values);
    pending.push_back({.number = 14 + i, .values = suggestion->values});
    distinct.insert(suggestion->values);
  }
  EXPECT_EQ(distinct.size(), 5u);
}

// Another history than before (a parent's trials edited, say) is not mistaken for the old one.
TEST(Bayesian, AnotherHistoryIsModelledAnew) {
  Bayesian search(Mixed(), {.seed = 3});
  auto finished = RunSearch(search, {.trials = 20}, MixedLoss);
  for (Trial& trial : finished) trial.objective = -*trial.objective;
  Bayesian fresh(Mixed(), {.seed = 3});
  EXPECT_EQ(search.Suggest({finished, {}})->values, fresh.Suggest({finished, {}})->values);
  // And a shorter one.
  const std::span<const Trial> shorter(finished.data(), 12);
  Bayesian other(Mixed(), {.seed = 3});
  EXPECT_EQ(search.Suggest({shorter, {}})->values, other.Suggest({shorter, {}})->values);
}

TEST(Bayesian, AFiniteSpaceIsExhaustedWithoutARepetition) {
  const Space space =
      Make({{.name = "a", .kind = ParameterKind::kCategorical, .values = {"x", "y", "z"}},
            {.name = "n", .kind = ParameterKind::kInteger, .min = "1", .max = "6"}});
  Bayesian search(space, {.seed = 2});
  const auto trials = RunSearch(search, {.trials = 50, .parallel = 2},
                                [](const auto& values) { return NumberAt(values, 1); });
  std::set<Configuration> distinct;
  for (const Trial& trial : trials) distinct.insert(trial.values);
  EXPECT_EQ(trials.size(), 18u);
  EXPECT_EQ(distinct.size(), 18u);
}

TEST(Bayesian, DegenerateHistoriesStillGetSuggestions) {
  const auto count_distinct = [](const Objective& objective) {
    Bayesian search(Mixed(), {.seed = 1});
    std::set<Configuration> distinct;
    for (const Trial& trial : RunSearch(search, {.trials = 18}, objective)) {
      distinct.insert(trial.values);
    }
    return distinct.size();
  };
  EXPECT_EQ(count_distinct([](const auto&) { return std::nullopt; }), 18u);
  EXPECT_EQ(count_distinct([](const auto&) { return 3.5; }), 18u);
  EXPECT_EQ(count_distinct([](const auto&) { return std::nan(""); }), 18u);
  EXPECT_EQ(count_distinct([](const auto&) { return HUGE_VAL; }), 18u);
  EXPECT_EQ(count_distinct([n = 0](const auto&) mutable -> std::optional<double> {
              if (++n == 7) return 1.0;
              return std::nullopt;
            }),
            18u);
  EXPECT_EQ(count_distinct([n = 0](const auto& values) mutable {
              return ++n % 3 == 0 ? 1e300 : MixedLoss(values);
            }),
            18u);
}

TEST(Bayesian, DuplicatesAndForeignValuesInTheHistoryAreNoTrouble) {
  Bayesian search(Mixed(), {.seed = 1});
  const Configuration same = {"0.01", "5", "relu", "7"};
  std::vector<Trial> finished(12, {.values = same, .objective = 1});
  finished.push_back({.values = {"0.1", "5", "no such activation", "7"}, .objective = 0});
  finished.push_back({.values = {"0.1"}, .objective = 0});
  const auto suggestion = search.Suggest({finished, {}});
  ASSERT_TRUE(suggestion.has_value());
  EXPECT_NE(suggestion->values, same);
}

TEST(Bayesian, LeavesTheRegionWhereTrialsFail) {
  const Space space = Make({Unit("x"), Unit("y")});
  Bayesian search(space, {.seed = 5});
  // The best corner is out of bounds for the program.
  const auto trials = RunSearch(search, {.trials = 40}, [](const auto& values) {
    const double x = NumberAt(values, 0);
    return x > 0.6 ? std::nullopt : std::optional<double>(1 - x);
  });
  std::size_t failed = 0;
  for (const Trial& trial : trials) failed += trial.outcome == Outcome::kFailed ? 1 : 0;
  EXPECT_LT(failed, 20u);
  EXPECT_LT(BestOf(trials), 0.45);
}

TEST(Bayesian, NoiseDoesNotStopTheSearch) {
  const auto truth = [](const Configuration& v) {
    return std::pow(NumberAt(v, 0) - 0.3, 2) + std::pow(NumberAt(v, 1) - 0.7, 2);
  };
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Rng rng(seed, Stream{0});
    Bayesian search(Make({Unit("x"), Unit("y")}), {.seed = seed});
    double best = 1;
    for (const Trial& trial : RunSearch(search, {.trials = 50}, [&](const auto& values) {
           return truth(values) + 0.05 * rng.Normal();
         })) {
      best = std::min(best, truth(trial.values));
    }
    sum += best;
  }
  EXPECT_LT(sum / 4, 0.01);
}

TEST(Bayesian, CheaperTrialsArePreferredWhenCostCounts) {
  const auto seconds_of = [](const Configuration& values) {
    return std::exp(6 * NumberAt(values, 1));
  };
  const auto spent = [&](double exponent) {
    Bayesian search(Make({Unit("x"), Unit("y")}), {.seed = 9, .cost_exponent = exponent});
    std::vector<Trial> finished;
    double sum = 0;
    for (int i = 0; i < 25; ++i) {
      const auto suggestion = search.Suggest({finished, {}});
      finished.push_back({.number = i,
                          .values = suggestion->values,
                          .objective = std::pow(NumberAt(suggestion->values, 0) - 0.4, 2),
                          .seconds = seconds_of(suggestion->values)});
      sum += finished.back().seconds;
    }
    EXPECT_LT(BestOf(finished), 0.01);
    return sum;
  };
  EXPECT_LT(spent(1), 0.6 * spent(0));
}

TEST(Bayesian, AParentOfTheSameKindCountsAsOwnTrials) {
  Bayesian parent(Mixed(), {.seed = 1});
  auto history = RunSearch(parent, {.trials = 25}, MixedLoss);
  Bayesian child(Mixed(), {.seed = 2, .parents = {{.finished = history, .identical = true}}});
  const auto trials = RunSearch(child, {.trials = 5}, MixedLoss);
  for (const Trial& trial : trials) {
    for (const Trial& old : history) EXPECT_NE(trial.values, old.values);
  }
  EXPECT_LT(BestOf(trials), 0.5);
}

TEST(Bayesian, AParentOfAnotherTaskPointsTheWay) {
  Bayesian parent(Mixed(), {.seed = 1});
  // Shifted, stretched, and with the range of another job.
  const auto history = RunSearch(parent, {.trials = 30},
                                 [](const auto& values) { return 50 + 20 * MixedLoss(values); });
  double with = 0;
  double without = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Bayesian child(Mixed(), {.seed = seed, .parents = {{.finished = history}}});
    Bayesian orphan(Mixed(), {.seed = seed});
    with += BestOf(RunSearch(child, {.trials = 6}, MixedLoss));
    without += BestOf(RunSearch(orphan, {.trials = 6}, MixedLoss));
  }
  EXPECT_LT(with, 0.5 * without);
}

TEST(Bayesian, AMisleadingParentIsOvercome) {
  Bayesian parent(Mixed(), {.seed = 1});
  const auto history =
      RunSearch(parent, {.trials = 30}, [](const auto& values) { return -MixedLoss(values); });
  Bayesian child(Mixed(), {.seed = 2, .parents = {{.finished = history}}});
  EXPECT_LT(BestOf(RunSearch(child, {.trials = 40}, MixedLoss)), 0.2);
}

TEST(Bayesian, ManyParametersAreSearchedInATrustRegion) {
  std::vector<ParameterRange> ranges;
  for (int d = 0; d < 20; ++d) ranges.push_back(Unit("x" + std::to_string(d)));
  const auto loss = [](const Configuration& values) {
    double sum = 0;
    for (std::size_t d = 0; d < values.size(); ++d) sum += std::pow(NumberAt(values, d) - 0.3, 2);
    return sum;
  };
  Bayesian search(Make(ranges), {.seed = 1});
  RandomSearch random(Make(ranges), {.seed = 1});
  const double ours = BestOf(RunSearch(search, {.trials = 60}, loss));
  EXPECT_LT(ours, 0.4 * BestOf(RunSearch(random, {.trials = 60}, loss)));
}

TEST(TrustRegion, GrowsWithSuccessAndShrinksWithFailure) {
  EXPECT_EQ(TrustRegionSide(Eigen::VectorXd(0), 20), 0.8);
  EXPECT_EQ(TrustRegionSide(Eigen::VectorXd::LinSpaced(4, 10, 1), 20), 1.6);
  EXPECT_EQ(TrustRegionSide(Eigen::VectorXd::Ones(6), 20), 0.4);
  EXPECT_EQ(TrustRegionSide(Eigen::VectorXd::Ones(6), 40), 0.8);
  // Seven halvings bring it below 2^-7: it starts anew.
  EXPECT_EQ(TrustRegionSide(Eigen::VectorXd::Ones(36), 20), 0.8);
}

// More trials than are modelled: the best stay in.
TEST(Bayesian, ManyTrialsAreCutDownToTheBestAndTheLatest) {
  const Space space = Make({Unit("x"), Unit("y")});
  RandomSearch random(space, {.seed = 1});
  const auto loss = [](const auto& v) {
    return std::pow(NumberAt(v, 0) - 0.25, 2) + NumberAt(v, 1);
  };
  const auto finished = RunSearch(random, {.trials = kTrialsModelled + 50}, loss);
  Bayesian search(space, {.seed = 1});
  const auto surrogate = search.SurrogateOf(finished);
  ASSERT_TRUE(surrogate.has_value());
  EXPECT_EQ(surrogate->losses.size(), kTrialsModelled);
  EXPECT_EQ(*std::ranges::min_element(surrogate->losses), BestOf(finished));
}

TEST(Explain, TellsWhatMattersAndWhatIsExpected) {
  Bayesian search(Make({Unit("idle"), Unit("strong"), Unit("weak")}),
                  {.seed = 1, .goal = Goal::kMaximize});
  auto finished = RunSearch(search, {.trials = 40}, [](const auto& values) {
    return 10 - 5 * std::pow(NumberAt(values, 1) - 0.5, 2) - 0.5 * NumberAt(values, 2);
  });
  const Explanation explanation =
      Explain(search, finished,
              std::vector<Configuration>{{"0.3", "0.5", "0.0"}, {"no", "number", "here"}});
  ASSERT_EQ(explanation.importances.size(), 3u);
  EXPECT_EQ(explanation.importances[0].parameter, "strong");
  EXPECT_EQ(explanation.importances[1].parameter, "weak");
  EXPECT_GT(explanation.importances[0].share, 0.6);
  EXPECT_LT(explanation.importances[2].share, 0.05);
  ASSERT_EQ(explanation.expectations.size(), 2u);
  ASSERT_TRUE(explanation.expectations[0].has_value());
  EXPECT_NEAR(explanation.expectations[0]->objective, 10, 0.1);
  EXPECT_LE(explanation.expectations[0]->low, explanation.expectations[0]->objective);
  EXPECT_GE(explanation.expectations[0]->high, explanation.expectations[0]->objective);
  EXPECT_FALSE(explanation.expectations[1].has_value());
}

TEST(Explain, GroupsFailuresByTheirText) {
  Bayesian search(Make({Unit("x")}), {});
  std::vector<Trial> finished = {
      {.number = 0, .values = {"0.1"}, .outcome = Outcome::kFailed, .failure = "exit code 1"},
      {.number = 1, .values = {"0.2"}, .outcome = Outcome::kFailed, .failure = "out of memory"},
      {.number = 3, .values = {"0.3"}, .outcome = Outcome::kFailed, .failure = "out of memory"},
      {.number = 4, .values = {"0.4"}}};
  const Explanation explanation = Explain(search, finished, std::vector<Configuration>{{"0.5"}});
  ASSERT_EQ(explanation.failures.size(), 2u);
  EXPECT_EQ(explanation.failures[0].failure, "out of memory");
  EXPECT_EQ(explanation.failures[0].trials, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(explanation.without_metric, 1u);
  EXPECT_FALSE(explanation.expectations[0].has_value());
  EXPECT_TRUE(explanation.importances.empty());
}

}  // namespace
}  // namespace sabia::tuner
