// Where a job with a deadline should run now: on spot, on demand, or nowhere yet.
//
// A policy is asked at least every `look` and at every change of the market. All of them meet a
// deadline that on demand can meet. Not thread-safe; pure: no clock, no I/O.
//
// Baselines after "Can't Be Late: Optimizing Spot Instance Savings under Deadlines" (NSDI 2024):
// Greedy and Uniform Progress. Ours: planner.h. The referee that knows the future: omniscient.h.
#pragma once

#include <memory>

#include "spot/job.h"

namespace sabia::spot {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual Placement Decide(const Situation& now) = 0;
  // Whether Situation::spot_lifetime must be filled in: such a policy is a yardstick only.
  virtual bool SeesTheFuture() const { return false; }
};

// On demand from the first look to the last: what a saving is measured against.
std::unique_ptr<Policy> MakeOnDemandOnly();

// Any spot, else wait; on demand once waiting has used up the slack, and then to the end.
std::unique_ptr<Policy> MakeGreedy(const JobTerms& terms);

// The six rules, d being JobTerms::Delay():
//   1 nothing runs when no work is left (the caller's);
//   2 off spot with less than work + 2d left: on demand, to the end;
//   3 on spot: stay until it is reclaimed;
//   4 idle and behind uniform progress: on demand;
//   5 off spot, spot there and rule 6 does not forbid: spot, even when behind;
//   6 on demand: stay until 2d ahead of uniform progress.
// With an oracle, spot is taken only if it lasts longer than k*d/(k-1) (from on demand twice that,
// and then at once), k being the ratio of the prices; leaving on demand for nothing still obeys 6.
enum class Foresight { kNone, kNextSpotLifetime };
std::unique_ptr<Policy> MakeUniformProgress(const JobTerms& terms, Foresight foresight);

}  // namespace sabia::spot
