// Goal: no market, however hostile, no estimate within its bound and no loss of work makes a policy
// miss a deadline that on demand can meet. Method: random jobs on random markets from printed
// seeds, many of them with no more slack than a start needs.
#include <gtest/gtest.h>

#include "spot/planner.h"
#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kMinute;

constexpr unsigned kSeeds = 400;

struct World {
  JobTerms terms;
  Work work;
  std::vector<Tick> past, ahead;
};

World MakeWorld(std::mt19937_64& random) {
  const auto below = [&](int bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  World world;
  const Millis look = (1 + below(20)) * kMinute;
  const Millis work = look * (1 + below(60)) + Millis(below(60'000));
  world.terms = testing::Terms(work, Millis(0), below(40) * kMinute, look);
  world.terms.work_error = random() % 2 == 0 ? 0 : static_cast<double>(below(50)) / 100;
  if (random() % 2 == 0) {
    world.work.checkpoint_interval = (1 + below(60)) * kMinute;
    world.terms.lost_work_max = world.work.checkpoint_interval;
  }
  const Millis slack = random() % 3 == 0 ? Millis(below(100)) : look * below(60);
  world.terms.time = world.terms.WorkMax() + world.terms.changeover + slack;
  const double error = world.terms.work_error * (2 * static_cast<double>(below(1001)) / 1000 - 1);
  world.work.true_work =
      Millis(static_cast<std::int64_t>(static_cast<double>(work.count()) * (1 + error)));
  const int spells = 1 + static_cast<int>(below(20));
  const auto count = static_cast<std::size_t>(world.terms.time / look) + 1;
  world.past = testing::RandomTicks(random, 1 + random() % 200, spells);
  world.ahead = testing::RandomTicks(random, count, spells);
  return world;
}

TEST(Property, NoPolicyMissesADeadlineThatOnDemandCanMeet) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 random(seed);
    const World world = MakeWorld(random);
    ASSERT_TRUE(Check(world.terms).has_value());
    std::vector<std::unique_ptr<Policy>> policies;
    policies.push_back(MakeOnDemandOnly());
    policies.push_back(MakeGreedy(world.terms));
    policies.push_back(MakeUniformProgress(world.terms, Foresight::kNone));
    policies.push_back(MakeUniformProgress(world.terms, Foresight::kNextSpotLifetime));
    policies.push_back(
        std::make_unique<Planner>(world.terms, SpellsOf(world.past, world.terms.look)));
    for (std::size_t i = 0; i < policies.size(); ++i) {
      const Outcome out = Replay(world.terms, world.work, world.ahead, *policies[i]);
      EXPECT_TRUE(out.finished) << "seed " << seed << " policy " << i;
      EXPECT_LE(out.took, world.terms.time);
      EXPECT_EQ(out.spot_time + out.on_demand_time,
                world.work.true_work + out.changeover_time + out.lost_work)
          << "every paid hour is work that stays, work that was lost, or a changeover";
      EXPECT_EQ(out.took, out.spot_time + out.on_demand_time + out.waiting_time);
    }
  }
}

}  // namespace
}  // namespace sabia::spot
