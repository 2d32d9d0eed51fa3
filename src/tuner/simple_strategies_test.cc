// Random and grid search.
#include <gtest/gtest.h>

#include <set>

#include "tuner/grid_search.h"
#include "tuner/random_search.h"
#include "tuner/testing/search.h"

namespace sabia::tuner {
namespace {

ParameterRange Letters(std::string name, int count) {
  ParameterRange range{.name = std::move(name), .kind = ParameterKind::kCategorical};
  for (int i = 0; i < count; ++i) range.values.push_back("v" + std::to_string(i));
  return range;
}

Space Make(std::vector<ParameterRange> ranges) { return *Space::Create(std::move(ranges)); }

Space Plane() {
  return Make({{.name = "x", .min = "0", .max = "1"}, {.name = "y", .min = "0", .max = "1"}});
}

TEST(RandomSearch, IsTheSameAfterARestart) {
  for (const Draw draw : {Draw::kIndependent, Draw::kSobol}) {
    std::vector<Trial> finished;
    RandomSearch search(Plane(), {.seed = 5, .draw = draw});
    for (int i = 0; i < 20; ++i) {
      const auto suggestion = search.Suggest({finished, {}});
      RandomSearch restarted(Plane(), {.seed = 5, .draw = draw});
      EXPECT_EQ(restarted.Suggest({finished, {}})->values, suggestion->values);
      finished.push_back({.number = i, .values = suggestion->values, .objective = 0});
    }
    RandomSearch other(Plane(), {.seed = 6, .draw = draw});
    EXPECT_NE(other.Suggest({{}, {}})->values, finished[0].values);
  }
}

TEST(RandomSearch, PendingTrialsCountLikeFinishedOnes) {
  RandomSearch search(Plane(), {.seed = 5});
  const std::vector<Trial> one = {{.values = search.Suggest({{}, {}})->values}};
  EXPECT_EQ(search.Suggest({one, {}})->values, search.Suggest({{}, one})->values);
}

TEST(RandomSearch, AFiniteSpaceIsExhaustedWithoutARepetition) {
  RandomSearch search(Make({Letters("a", 3), Letters("b", 5)}), {.seed = 1});
  const std::vector<Trial> trials =
      RunSearch(search, {.trials = 100}, [](const auto&) { return 0.0; });
  std::set<Configuration> distinct;
  for (const Trial& trial : trials) distinct.insert(trial.values);
  EXPECT_EQ(trials.size(), 15u);
  EXPECT_EQ(distinct.size(), 15u);
}

TEST(GridSearch, TriesEveryCombinationOnceInOrder) {
  auto grid = GridSearch::Create(Make({Letters("a", 2), Letters("b", 3)}));
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->Count(), 6u);
  const std::vector<Trial> trials =
      RunSearch(*grid, {.trials = 100, .parallel = 2}, [](const auto&) { return 0.0; });
  ASSERT_EQ(trials.size(), 6u);
  EXPECT_EQ(trials[0].values, (Configuration{"v0", "v0"}));
  EXPECT_EQ(trials[1].values, (Configuration{"v0", "v1"}));
  EXPECT_EQ(trials[5].values, (Configuration{"v1", "v2"}));
}

TEST(GridSearch, AMissingCombinationIsFilledIn) {
  auto grid = GridSearch::Create(Make({Letters("a", 3)}));
  const std::vector<Trial> finished = {{.values = {"v0"}}, {.values = {"v2"}}};
  EXPECT_EQ(grid->Suggest({finished, {}})->values, (Configuration{"v1"}));
}

TEST(GridSearch, AnExplosionIsRefusedByName) {
  const auto grid =
      GridSearch::Create(Make({Letters("a", 30), Letters("b", 12), Letters("c", 30)}));
  ASSERT_FALSE(grid.has_value());
  EXPECT_EQ(grid.error().message,
            "the grid has 10800 configurations: 30 (a) x 12 (b) x 30 (c); at most 750");
}

TEST(GridSearch, NumericRangesAreRefusedByName) {
  const auto grid = GridSearch::Create(Make(
      {Letters("a", 2), {.name = "n", .kind = ParameterKind::kInteger, .min = "1", .max = "2"}}));
  ASSERT_FALSE(grid.has_value());
  EXPECT_EQ(grid.error().message, "parameter 'n': a grid takes categorical ranges only");
}

}  // namespace
}  // namespace sabia::tuner
