#include "spot/planner.h"

#include <gtest/gtest.h>

#include "spot/sample.h"
#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kHour;
using testing::kMinute;

JobTerms Terms() { return testing::Terms(10 * kHour, 14 * kHour, 12 * kMinute, 10 * kMinute); }

TEST(Planner, TakesSpotThatLastsAndWaitsWhileThereIsTime) {
  std::vector<Spell> past;
  for (int i = 0; i < 30; ++i) {
    past.push_back({true, 30 * kHour});
    past.push_back({false, 20 * kMinute});
  }
  Planner planner(Terms(), past);
  EXPECT_EQ(planner.Decide({.time_left = 14 * kHour, .spot_available = true}), Placement::kSpot);
  Planner waiting(Terms(), past);
  EXPECT_EQ(waiting.Decide({.time_left = 14 * kHour}), Placement::kIdle);
}

TEST(Planner, DoesNotWaitForSpotThatDoesNotCome) {
  std::vector<Spell> past;
  for (int i = 0; i < 30; ++i) {
    past.push_back({true, 10 * kMinute});
    past.push_back({false, 300 * kHour});
  }
  // Waiting costs nothing as long as there is slack, but running now is as dear as running later.
  Planner planner(Terms(), past);
  const Advice advice = planner.Advise({.time_left = 14 * kHour, .spell_age = 10 * kHour});
  EXPECT_NEAR(advice.choices[0].expected_cost.dollars(), advice.choices[2].expected_cost.dollars(),
              0.5);
}

TEST(Planner, IsOnDemandWhenOnlyThatIsSafe) {
  Planner planner(Terms(), {});
  const Situation now{.time_left = 10 * kHour + 13 * kMinute, .spot_available = true};
  EXPECT_EQ(planner.Decide(now), Placement::kOnDemand);
}

TEST(Planner, ExplainsEachChoice) {
  Planner planner(Terms(), {});
  const Advice free = planner.Advise({.time_left = 14 * kHour, .spot_available = true});
  EXPECT_EQ(free.placement, Placement::kSpot);
  ASSERT_EQ(free.choices.size(), 3U);
  for (const Choice& choice : free.choices) {
    EXPECT_TRUE(choice.possible && choice.safe);
    EXPECT_GE(choice.expected_cost, free.choices[1].expected_cost);
  }
  EXPECT_TRUE(free.Explain().starts_with("spot: $")) << free.Explain();
  EXPECT_NE(free.Explain().find("on-demand: $"), std::string::npos);
  const Advice tight = planner.Advise({.time_left = 10 * kHour + 13 * kMinute});
  EXPECT_EQ(tight.placement, Placement::kOnDemand);
  EXPECT_NE(tight.Explain().find("wait: could miss the deadline"), std::string::npos);
  EXPECT_NE(tight.Explain().find("spot: no capacity"), std::string::npos);
}

TEST(Planner, GoesOnAfterARestartAsBefore) {
  std::mt19937_64 random(5);
  const JobTerms terms = Terms();
  const PlannerOptions options{.replan_every = terms.look};
  const std::vector<Tick> past = testing::RandomTicks(random, 300, 12);
  const std::vector<Tick> ahead = testing::RandomTicks(random, 60, 12);
  std::vector<Tick> seen = past;
  Planner lives(terms, SpellsOf(past, terms.look), options);
  Millis age{0};
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const bool available = ahead[i].spot_available;
    age = available == seen.back().spot_available ? age + terms.look : Millis(0);
    const Situation now{.time_left = terms.time - terms.look * static_cast<std::int64_t>(i),
                        .work_done = terms.look * static_cast<std::int64_t>(i) / 2,
                        .spot_available = available,
                        .spell_age = age};
    Planner restarted(terms, SpellsOf(seen, terms.look), options);
    EXPECT_EQ(lives.Advise(now).Explain(), restarted.Advise(now).Explain()) << "look " << i;
    seen.push_back(ahead[i]);
  }
}

TEST(Planner, LearnsWhileTheJobRuns) {
  // A past of calm, a present of flicker: spot is not taken any more in the end.
  const JobTerms terms = testing::Terms(30 * kHour, 60 * kHour, 30 * kMinute, 10 * kMinute);
  const std::vector<Spell> past = {
      {true, 30 * kHour}, {false, kHour}, {true, 30 * kHour, true, false}};
  Planner planner(terms, past, {.replan_every = kHour});
  const Advice first = planner.Advise({.time_left = terms.time, .spot_available = true});
  Advice last = first;
  for (int i = 1; i < 60; ++i) {
    last = planner.Advise({.time_left = terms.time - terms.look * i, .spot_available = i % 2 == 0});
  }
  EXPECT_GT(last.hazards.ends_available[0], 3 * first.hazards.ends_available[0]);
}

// Costs on the same made markets, the past of each known.
struct Totals {
  double planner = 0, greedy = 0, uniform = 0;
};

TEST(Planner, IsCheaperThanItsBaselinesOnMarketsItKnows) {
  Totals totals;
  const JobTerms terms = testing::Terms(12 * kHour, 16 * kHour, 12 * kMinute, 10 * kMinute);
  const auto count = static_cast<std::size_t>(terms.time / terms.look);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto market = MakePoissonMarket({.between_interruptions = 50 * kMinute,
                                           .until_return = 40 * kMinute,
                                           .seed = seed,
                                           .per_hour = testing::Dollars(1)});
    ASSERT_TRUE(market.has_value());
    const std::vector<Tick> all = Sample(**market, 1, {.tick = terms.look, .ticks = 1000 + count});
    const std::span<const Tick> past(all.data(), 1000), ahead(all.data() + 1000, count);
    const auto cost = [&](Policy& policy) {
      const Outcome out = Replay(terms, {.true_work = terms.work}, ahead, policy);
      EXPECT_TRUE(out.finished);
      return out.cost().dollars();
    };
    Planner planner(terms, SpellsOf(past, terms.look));
    totals.planner += cost(planner);
    totals.greedy += cost(*MakeGreedy(terms));
    totals.uniform += cost(*MakeUniformProgress(terms, Foresight::kNone));
  }
  EXPECT_LT(totals.planner, 0.97 * totals.greedy);
  EXPECT_LT(totals.planner, 0.97 * totals.uniform);
}

}  // namespace
}  // namespace sabia::spot
