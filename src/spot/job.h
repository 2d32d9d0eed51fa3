// What a deadline policy knows of a job: its terms, and where it stands now.
//
// Times are durations, not moments: a policy never asks what o'clock it is. Work is measured in
// running time on the job's instances without any start-up. Prices are those of the whole gang: all
// instances of a job run, or none. Pure values; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/money.h"
#include "base/result.h"
#include "base/time.h"

namespace sabia::spot {

enum class Placement { kIdle, kSpot, kOnDemand };
std::string_view Name(Placement placement);  // "wait", "spot", "on-demand"

struct JobTerms {
  Millis work{0};         // estimated, from the first step to the last
  double work_error = 0;  // the true work is at most work * (1 + work_error)
  Millis time{0};         // from the first look to the deadline
  Millis changeover{0};   // each start costs this much running time before work goes on
  // The most work that a reclaim destroys, for it is not in a checkpoint yet.
  Millis lost_work_max{0};
  Millis look{0};  // the policy is asked at least this often, and at every change of the market
  Money spot_per_hour;
  Money on_demand_per_hour;

  Millis WorkMax() const;
  // What a reclaim can cost in time: a new start and the work to repeat. d of the literature.
  Millis Delay() const { return changeover + lost_work_max; }
  double PriceRatio() const;  // on demand / spot
};

// kInvalidArgument names the first term that makes no sense, or says that the deadline cannot be
// met even on demand.
Status Check(const JobTerms& terms);

struct Situation {
  Millis time_left{0};  // to the deadline
  Millis work_done{0};  // as if nothing were reclaimed from now on
  Placement placement = Placement::kIdle;
  Millis changeover_left{0};    // of the running placement
  bool spot_available = false;  // for all of the job's instances
  Millis spell_age{0};          // since spot_available last changed
  // How long spot stays available from now; told only to policies that may see the future.
  std::optional<Millis> spot_lifetime;
};

// The estimate of what is left; when the work has outgrown its estimate, half of what it may still
// be, at least a millisecond.
Millis WorkLeft(const JobTerms& terms, const Situation& now);
// The most that can be left; at least a millisecond.
Millis WorkLeftMax(const JobTerms& terms, const Situation& now);

// Whether the deadline can still be met, whatever the market does, if the job is placed like this
// until the next look. From a situation in which on demand meets the deadline, a run of safe
// placements never leads to one in which it does not.
bool IsSafe(const JobTerms& terms, const Situation& now, Placement placement);

// What is left when nothing is safe: the placement that is likeliest to end in time.
Placement LastResort(const JobTerms& terms, const Situation& now);

}  // namespace sabia::spot
