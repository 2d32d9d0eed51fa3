#include "spot/hazard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kHour;
using testing::kMinute;
using testing::Ticks;

// Nothing imagined: what was seen counts.
LearnOptions Bare() {
  return {.level_weight = 1e-9, .class_weight = 1e-9, .half_life = 1'000'000 * kHour};
}

TEST(Ages, SingleLooksThenEverWiderClasses) {
  const Ages ages(10 * kMinute);
  for (int looks = 0; looks <= 4; ++looks) {
    EXPECT_EQ(ages.begin(static_cast<std::size_t>(looks)), looks * 10 * kMinute);
    EXPECT_EQ(ages.ClassOf(looks * 10 * kMinute + Millis(1)), static_cast<std::size_t>(looks));
  }
  for (std::size_t i = 1; i < kAgeClasses; ++i) EXPECT_LT(ages.begin(i - 1), ages.begin(i));
  EXPECT_GE(ages.begin(kAgeClasses - 1), 48 * kHour);
  EXPECT_EQ(ages.ClassOf(10'000 * kHour), kAgeClasses - 1);
  // Looks so far apart that the classes would meet.
  const Ages coarse(40 * kHour);
  for (std::size_t i = 1; i < kAgeClasses; ++i) EXPECT_LT(coarse.begin(i - 1), coarse.begin(i));
}

TEST(SpellsOf, KnowsWhichEndsWereSeen) {
  const auto spells = SpellsOf(Ticks("++--+"), kHour);
  ASSERT_EQ(spells.size(), 3U);
  EXPECT_TRUE(spells[0].available && !spells[0].begin_seen && spells[0].end_seen);
  EXPECT_EQ(spells[0].length, 2 * kHour);
  EXPECT_TRUE(!spells[1].available && spells[1].begin_seen && spells[1].end_seen);
  EXPECT_TRUE(spells[2].begin_seen && !spells[2].end_seen);
  EXPECT_TRUE(SpellsOf({}, kHour).empty());
}

TEST(Learn, CountsEndsPerLookOfExposure) {
  // Spells with capacity of 1, 1, 2 and 3 looks: of four that began two ended at once.
  const std::vector<Spell> spells = {
      {false, kHour},    {true, kHour},  {false, kHour},    {true, kHour},  {false, kHour},
      {true, 2 * kHour}, {false, kHour}, {true, 3 * kHour}, {false, kHour},
  };
  const Hazards hazards = Learn(spells, kHour, Bare());
  EXPECT_NEAR(hazards.ends_available[0], 0.5, 1e-3);
  EXPECT_NEAR(hazards.ends_available[1], 0.5, 1e-3);
  EXPECT_NEAR(hazards.ends_available[2], 0.98, 1e-3) << "one of one: but never certain";
  EXPECT_NEAR(hazards.ends_unavailable[0], 0.98, 1e-3);
}

TEST(Learn, ASpellThatGoesOnIsExposureWithoutAnEnd) {
  std::vector<Spell> spells = {{true, kHour}, {false, kHour}, {true, kHour, true, false}};
  EXPECT_NEAR(Learn(spells, kHour, Bare()).ends_available[0], 0.5, 1e-3);
  spells.back().end_seen = true;
  EXPECT_NEAR(Learn(spells, kHour, Bare()).ends_available[0], 0.98, 1e-3);
}

TEST(Learn, ASpellOfUnknownAgeIsLeftOutUnlessThereIsNothingElse) {
  std::vector<Spell> spells = {{true, 3 * kHour, false, true}, {false, kHour}, {true, kHour}};
  EXPECT_NEAR(Learn(spells, kHour, Bare()).ends_available[0], 0.98, 1e-3);
  // Alone it counts: capacity that has been there for a hundred hours is no flicker.
  spells = {{true, 100 * kHour, false, false}};
  LearnOptions options;
  options.half_life = 1'000'000 * kHour;
  EXPECT_LT(Learn(spells, kHour, options).ends_available[0],
            0.2 * Learn({}, kHour, options).ends_available[0]);
}

TEST(Learn, WithoutAPastIsThePrior) {
  const LearnOptions options;
  const Hazards hazards = Learn({}, 10 * kMinute, options);
  const double first = options.prior_available.Ends(Millis(0), 10 * kMinute);
  EXPECT_NEAR(hazards.ends_available[0], first, 1e-9);
  for (std::size_t i = 1; i < kAgeClasses; ++i) {
    EXPECT_LT(hazards.ends_available[i], hazards.ends_available[i - 1]) << "old spells end seldom";
  }
}

TEST(Learn, FewSpellsMoveThePriorALittleManyALot) {
  const double prior = Learn({}, kHour).ends_available[0];
  const auto after = [&](int count) {
    std::vector<Spell> spells;
    for (int i = 0; i < count; ++i) {
      spells.push_back({true, 20 * kHour});
      spells.push_back({false, kHour});
    }
    LearnOptions options;
    options.half_life = 1'000'000 * kHour;
    return Learn(spells, kHour, options).ends_available[0];
  };
  EXPECT_LT(after(1), prior);
  EXPECT_GT(after(1), 0.2 * prior);
  EXPECT_LT(after(100), 0.05 * prior);
}

TEST(Learn, RecentSpellsCountMore) {
  std::vector<Spell> calm_lately, wild_lately;
  for (int i = 0; i < 50; ++i) {
    for (auto* spells : {&calm_lately, &wild_lately}) {
      const bool wild = (spells == &wild_lately) == (i >= 25);
      spells->push_back({true, wild ? kHour : 20 * kHour});
      spells->push_back({false, kHour});
    }
  }
  LearnOptions options;
  options.half_life = 48 * kHour;
  EXPECT_LT(Learn(calm_lately, kHour, options).ends_available[0],
            0.5 * Learn(wild_lately, kHour, options).ends_available[0]);
}

TEST(Weibull, EndsIsTheLossOfSurvival) {
  const Weibull exponential{.shape = 1, .scale_hours = 2};
  EXPECT_NEAR(exponential.Ends(Millis(0), 2 * kHour), 1 - std::exp(-1.0), 1e-12);
  EXPECT_NEAR(exponential.Ends(5 * kHour, 7 * kHour), 1 - std::exp(-1.0), 1e-12);
  const Weibull ageing{.shape = 0.5, .scale_hours = 2};
  EXPECT_GT(ageing.Ends(Millis(0), kHour), ageing.Ends(kHour, 2 * kHour));
}

}  // namespace
}  // namespace sabia::spot
