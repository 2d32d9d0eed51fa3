// The rules of Greedy and Uniform Progress, one by one. Ten hours of work in twenty, a changeover
// of an hour: uniform progress is half an hour of work an hour.
#include "spot/policy.h"

#include <gtest/gtest.h>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kHour;
using testing::kMinute;

JobTerms Terms() { return testing::Terms(10 * kHour, 20 * kHour, kHour, 6 * kMinute); }

Placement Uniform(const Situation& now) {
  return MakeUniformProgress(Terms(), Foresight::kNone)->Decide(now);
}
Placement Oracle(const Situation& now) {
  return MakeUniformProgress(Terms(), Foresight::kNextSpotLifetime)->Decide(now);
}

TEST(OnDemandOnly, IsOnDemand) {
  EXPECT_EQ(MakeOnDemandOnly()->Decide({.spot_available = true}), Placement::kOnDemand);
}

TEST(Greedy, TakesAnySpotElseWaitsUntilTheSlackIsGone) {
  const auto greedy = MakeGreedy(Terms());
  EXPECT_EQ(greedy->Decide({.time_left = 20 * kHour, .spot_available = true}), Placement::kSpot);
  EXPECT_EQ(greedy->Decide({.time_left = 12 * kHour}), Placement::kIdle);
  EXPECT_EQ(greedy->Decide({.time_left = 12 * kHour - Millis(1), .spot_available = true}),
            Placement::kOnDemand);
  // To the end: spot does not tempt.
  EXPECT_EQ(greedy->Decide({.time_left = 8 * kHour,
                            .work_done = 3 * kHour,
                            .placement = Placement::kOnDemand,
                            .spot_available = true}),
            Placement::kOnDemand);
}

TEST(Greedy, StaysOnSpotPastTheSafetyNet) {
  EXPECT_EQ(MakeGreedy(Terms())->Decide({.time_left = 11 * kHour + kHour / 2,
                                         .placement = Placement::kSpot,
                                         .spot_available = true}),
            Placement::kSpot);
}

TEST(UniformProgress, Rule2OffSpotWithTooLittleTimeIsOnDemandToTheEnd) {
  Situation now{.time_left = 12 * kHour - Millis(1), .spot_available = true};
  EXPECT_EQ(Uniform(now), Placement::kOnDemand);
  now.placement = Placement::kOnDemand;
  EXPECT_EQ(Uniform(now), Placement::kOnDemand);
  now.time_left += Millis(1);
  now.placement = Placement::kIdle;
  EXPECT_EQ(Uniform(now), Placement::kSpot) << "rule 5 in the last moment";
}

TEST(UniformProgress, Rule2LooksAheadWhenLooksAreFarApart) {
  JobTerms terms = Terms();
  terms.look = 3 * kHour;
  const auto policy = MakeUniformProgress(terms, Foresight::kNone);
  EXPECT_EQ(policy->Decide({.time_left = 14 * kHour - Millis(1), .work_done = Millis(0)}),
            Placement::kOnDemand);
}

TEST(UniformProgress, Rule3StaysOnSpot) {
  EXPECT_EQ(Uniform({.time_left = 19 * kHour,
                     .work_done = 9 * kHour,
                     .placement = Placement::kSpot,
                     .spot_available = true}),
            Placement::kSpot);
}

TEST(UniformProgress, Rule4IdleAndBehindIsOnDemand) {
  Situation now{.time_left = 16 * kHour, .work_done = 2 * kHour};
  EXPECT_EQ(Uniform(now), Placement::kIdle) << "exactly in time";
  now.work_done -= Millis(1);
  EXPECT_EQ(Uniform(now), Placement::kOnDemand);
}

TEST(UniformProgress, Rule5TakesSpotEvenWhenBehind) {
  EXPECT_EQ(Uniform({.time_left = 16 * kHour, .work_done = kHour, .spot_available = true}),
            Placement::kSpot);
}

TEST(UniformProgress, Rule6StaysOnDemandUntilTwoChangeoversAhead) {
  // Two hours later uniform progress asks for an hour more.
  Situation now{.time_left = 16 * kHour,
                .work_done = 3 * kHour - Millis(1),
                .placement = Placement::kOnDemand,
                .spot_available = true};
  EXPECT_EQ(Uniform(now), Placement::kOnDemand);
  now.work_done += Millis(1);
  EXPECT_EQ(Uniform(now), Placement::kSpot);
  now.spot_available = false;
  EXPECT_EQ(Uniform(now), Placement::kIdle);
}

TEST(UniformProgress, TheOracleTakesSpotOnlyIfItPays) {
  // k = 3: a changeover is paid back after more than 1.5 hours.
  Situation now{.time_left = 16 * kHour,
                .work_done = 2 * kHour,
                .spot_available = true,
                .spot_lifetime = 90 * kMinute};
  EXPECT_EQ(Oracle(now), Placement::kIdle);
  now.spot_lifetime = 90 * kMinute + Millis(1);
  EXPECT_EQ(Oracle(now), Placement::kSpot);
  now.work_done = kHour;
  now.spot_lifetime = kHour;
  EXPECT_EQ(Oracle(now), Placement::kOnDemand) << "behind, and spot does not pay";
}

TEST(UniformProgress, TheOracleLeavesOnDemandForTwiceAsMuch) {
  Situation now{.time_left = 16 * kHour,
                .work_done = kHour,
                .placement = Placement::kOnDemand,
                .spot_available = true,
                .spot_lifetime = 180 * kMinute};
  EXPECT_EQ(Oracle(now), Placement::kOnDemand);
  now.spot_lifetime = 180 * kMinute + Millis(1);
  EXPECT_EQ(Oracle(now), Placement::kSpot) << "although behind: the oracle replaces rule 6";
}

TEST(UniformProgress, OnlyTheOracleSeesTheFuture) {
  EXPECT_FALSE(MakeUniformProgress(Terms(), Foresight::kNone)->SeesTheFuture());
  EXPECT_TRUE(MakeUniformProgress(Terms(), Foresight::kNextSpotLifetime)->SeesTheFuture());
}

}  // namespace
}  // namespace sabia::spot
