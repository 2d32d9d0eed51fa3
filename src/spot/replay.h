// One job under one policy on one stretch of a market: what it cost and when it ended.
//
// The world moves in ticks. At the start of a tick the market shows whether spot can be had; spot
// that cannot be had any more is gone at once, and with it the work since the last checkpoint; then
// the policy decides, and the tick is lived through. Within a tick time is exact to a millisecond:
// a changeover may end and the job may finish inside one. Seconds are paid until the job ends.
//
// Pure; any thread. Same input, same outcome.
#pragma once

#include <span>

#include "spot/policy.h"

namespace sabia::spot {

struct Tick {
  bool spot_available = false;  // for the whole gang
  Money spot_per_hour;          // of the whole gang
};

struct Work {
  Millis true_work{0};  // what the job really takes, whatever was estimated
  // Work is lost back to the last multiple of this; zero: the notice is enough to save all of it.
  Millis checkpoint_interval{0};
  // Since when spot is as it is at the first tick.
  Millis spell_age{0};
};

struct Outcome {
  bool finished = false;  // by the last tick; the policies get no further one
  Millis took{0};         // from the first tick to the end of the job
  Money spot_cost;
  Money on_demand_cost;
  Money changeover_cost;  // part of the two above
  Money lost_work_cost;   // likewise: spent on work that a reclaim destroyed, at spot's price then
  Millis spot_time{0};
  Millis on_demand_time{0};
  Millis waiting_time{0};
  Millis changeover_time{0};
  Millis lost_work{0};
  int reclaims = 0;
  int starts = 0;

  Money cost() const { return spot_cost + on_demand_cost; }
};

// `ticks` reach at least to the deadline; terms.look is their length. A job that is late goes on,
// on demand, until it has finished.
Outcome Replay(const JobTerms& terms, const Work& work, std::span<const Tick> ticks,
               Policy& policy);

}  // namespace sabia::spot
