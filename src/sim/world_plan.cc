#include "sim/world_plan.h"

#include <fmt/format.h>

#include "env/random.h"

namespace sabia::sim {
namespace {

constexpr Millis kMinute{60'000};
constexpr Millis kHour{3'600'000};
constexpr Millis kDay = kHour * 24;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  bool OneIn(int n) { return random_.Below(static_cast<std::uint64_t>(n)) == 0; }
  int Between(int from, int to) {
    return from + static_cast<int>(random_.Below(static_cast<std::uint64_t>(to - from + 1)));
  }
  Millis Between(Millis from, Millis to) {
    const auto range = static_cast<std::uint64_t>((to - from).count()) + 1;
    return from + Millis(static_cast<std::int64_t>(random_.Below(range)));
  }

 private:
  env::SeededRandom random_;
};

// Enough jobs to keep the machine busy about half to twice over.
Millis ArrivalMean(const WorldPlan& plan, int load_percent) {
  const double hosts = (1.0 + plan.hosts_max) / 2;
  const double mean = static_cast<double>(plan.work_mean.count()) * hosts * 100 /
                      (plan.instances * static_cast<double>(load_percent));
  return Millis(static_cast<std::int64_t>(mean) + 1);
}

}  // namespace

WorldPlan PlanOf(std::uint64_t seed) {
  Draw draw(seed);
  WorldPlan plan;
  plan.seed = seed;
  plan.instances = draw.Between(1, 12);
  plan.hosts_max = draw.OneIn(2) ? 1 : draw.Between(1, std::min(4, plan.instances));
  plan.work_mean = draw.OneIn(2) ? draw.Between(kMinute, kHour) : draw.Between(kHour, kDay);
  plan.arrival_mean = ArrivalMean(plan, draw.Between(50, 200));
  plan.length = plan.arrival_mean * draw.Between(5, 40);
  plan.spot_percent = draw.OneIn(3) ? 100 : draw.Between(0, 100);
  if (!draw.OneIn(4)) plan.checkpoint_every = draw.Between(Millis(1'000), plan.work_mean);
  if (!draw.OneIn(3)) plan.interruption_mean = draw.Between(plan.work_mean / 4, plan.work_mean * 4);
  if (draw.OneIn(3)) plan.agent_death_mean = draw.Between(plan.work_mean, plan.work_mean * 10);
  if (draw.OneIn(2)) plan.daemon_death_mean = draw.Between(plan.length / 20, plan.length);
  plan.daemon_down = draw.OneIn(2) ? Millis(0) : draw.Between(Millis(0), plan.work_mean);
  if (draw.OneIn(2)) plan.effects_per_death = draw.Between(10, 300);
  if (draw.OneIn(3)) plan.effects_per_failure = draw.Between(10, 300);
  if (draw.OneIn(3)) plan.lost_poke_percent = draw.Between(1, 60);
  if (draw.OneIn(3)) plan.failing_percent = draw.Between(1, 50);
  if (draw.OneIn(4)) plan.deaf_percent = draw.Between(1, 50);
  if (draw.OneIn(3)) plan.stopped_percent = draw.Between(1, 50);
  if (draw.OneIn(3)) plan.limited_percent = draw.Between(1, 50);
  if (draw.OneIn(3)) plan.retries = draw.Between(1, 3);
  if (draw.OneIn(3)) {
    plan.market_up_mean = draw.Between(plan.work_mean / 4, plan.work_mean * 4);
    plan.market_down_mean = draw.Between(plan.work_mean / 20, plan.work_mean * 2);
    plan.market_zones = draw.Between(1, 3);
  }
  if (draw.OneIn(3)) plan.deadline_percent = draw.Between(20, 100);
  if (plan.deadline_percent > 0 && draw.OneIn(2)) {
    plan.agent_death_mean = plan.daemon_down = Millis(0);
    plan.effects_per_failure = plan.lost_poke_percent = plan.deaf_percent = 0;
  }
  if (draw.OneIn(2)) {
    plan.keeping_percent = draw.Between(20, 100);
    plan.keep_alive_mean = draw.Between(plan.arrival_mean / 4, plan.arrival_mean * 4);
  }
  return plan;
}

WorldPlan DailyInterruptions(std::uint64_t seed, int instances, Millis length) {
  WorldPlan plan;
  plan.seed = seed;
  plan.length = length;
  plan.instances = instances;
  plan.work_mean = kDay * 2;
  plan.arrival_mean = ArrivalMean(plan, 95);
  plan.spot_percent = 100;
  plan.checkpoint_every = kHour / 4;
  plan.interruption_mean = kDay;
  return plan;
}

std::string Describe(const WorldPlan& plan) {
  const auto hours = [](Millis time) {
    return static_cast<double>(time.count()) / static_cast<double>(kHour.count());
  };
  return fmt::format(
      "seed {}: {:.1f} h, {} instances, jobs of {:.2f} h every {:.2f} h on 1 to {} hosts, spot {} "
      "%, checkpoints every {:.2f} h, interrupted every {:.2f} h, agents die every {:.2f} h, the "
      "daemon every {:.2f} h for up to {:.2f} h and at 1 of {} effects; 1 of {} effects fails, {} "
      "% of pokes are lost; {} % of programs fail, {} % are deaf, {} % are stopped, {} % run into "
      "a limit, {} retries; spot is there for {:.2f} h and away for {:.2f} h in {} zones; {} % of "
      "spot jobs have a deadline; "
      "{} % keep their instances for {:.2f} h",
      plan.seed, hours(plan.length), plan.instances, hours(plan.work_mean),
      hours(plan.arrival_mean), plan.hosts_max, plan.spot_percent, hours(plan.checkpoint_every),
      hours(plan.interruption_mean), hours(plan.agent_death_mean), hours(plan.daemon_death_mean),
      hours(plan.daemon_down), plan.effects_per_death, plan.effects_per_failure,
      plan.lost_poke_percent, plan.failing_percent, plan.deaf_percent, plan.stopped_percent,
      plan.limited_percent, plan.retries, hours(plan.market_up_mean), hours(plan.market_down_mean),
      plan.market_zones, plan.deadline_percent, plan.keeping_percent, hours(plan.keep_alive_mean));
}

}  // namespace sabia::sim
