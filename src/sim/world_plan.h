// What may happen in one simulated world, drawn from its seed.
//
// Swarm testing (Groce et al., ISSTA 2012): each kind of trouble is on in some worlds only, so that
// one does not hide what another would show. Pure values; the same seed gives the same plan.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace sabia::sim {

struct WorldPlan {
  std::uint64_t seed = 0;
  Millis length{0};        // of the busy part; then nothing goes wrong any more and every job ends
  int instances = 4;       // of ml.m5.large that fit on the machine
  Millis work_mean{0};     // of a job's program, exponential
  Millis arrival_mean{0};  // between jobs
  int hosts_max = 1;
  int spot_percent = 50;

  Millis checkpoint_every{0};   // 0: no checkpoints
  Millis interruption_mean{0};  // of a running spot job; 0: never
  Millis agent_death_mean{0};   // of a running agent
  Millis daemon_death_mean{0};  // between kills of the daemon
  Millis daemon_down{0};        // until it is started again, at most
  int effects_per_death = 0;    // the daemon dies at one of so many effects; 0: never
  int effects_per_failure = 0;  // one of so many effects fails
  int lost_poke_percent = 0;
  int failing_percent = 0;  // programs that exit with 1
  int deaf_percent = 0;     // programs that ignore SIGTERM
  int stopped_percent = 0;  // jobs that their user stops
  int limited_percent = 0;  // jobs whose MaxRuntime or MaxWait is less than they need
  int retries = 0;          // RetryStrategy
  int keeping_percent = 0;  // on-demand jobs that keep their instances for others
  Millis keep_alive_mean{0};

  // Of a zone's spot market: capacity is there for so long, and away for so long, exponential; 0:
  // always there. It is the daemon's to interrupt what runs there.
  Millis market_up_mean{0};
  Millis market_down_mean{0};
  int market_zones = 1;
  int deadline_percent = 0;  // spot jobs with a deadline policy

  // Nothing goes wrong that a deadline policy cannot foresee.
  bool KeepsDeadlines() const {
    return !AgentsDie() && daemon_down == Millis(0) && effects_per_failure == 0 &&
           lost_poke_percent == 0 && deaf_percent == 0;
  }
  bool AgentsDie() const { return agent_death_mean > Millis(0); }
};

WorldPlan PlanOf(std::uint64_t seed);
// The same cluster and load whatever the seed, with daily interruptions of every spot job and
// nothing else going wrong: for measuring.
WorldPlan DailyInterruptions(std::uint64_t seed, int instances, Millis length);

std::string Describe(const WorldPlan& plan);

}  // namespace sabia::sim
