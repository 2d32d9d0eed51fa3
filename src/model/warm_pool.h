// The instances that a job leaves behind for the next one, as the job's record tells of them.
//
// A pool goes from job to job. The record of each job holds its own part: that it runs on a pool
// (kInUse), that its instances wait (kAvailable), and what became of them: another job has them
// (kReused) or nobody (kTerminated). While they wait, the leases are still the job's.
//
// Retention is billed in whole seconds, [retained_from, retained_until), for each instance of the
// job. The second that has begun when the program's instance-time ends is the training's, the one
// that has begun when the next job takes over is that job's: no second is in two of the three.
// Source: WarmPoolStatus of the SageMaker API reference. Pure values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace sabia::model {

enum class WarmPoolState { kInUse, kAvailable, kReused, kTerminated };

// AWS's: "InUse", "Available", "Reused", "Terminated".
std::string_view Name(WarmPoolState state);

// However often it is reused.
inline constexpr Seconds kWarmPoolLifeMax{7 * 86'400};

struct WarmPool {
  WarmPoolState state = WarmPoolState::kInUse;
  WallTime born;           // its first job's instances were leased
  std::string taken_from;  // the job that left the instances; "": they were started for this one
  std::optional<WallTime> retained_from;
  std::optional<WallTime> retained_until;  // nothing while they wait
  std::string reused_by;
  std::optional<WallTime> updated;  // the period was: what went before was retained, and is billed

  json::object ToJson() const;
  static Result<WarmPool> FromJson(const json::object& document);
};

// Up to `now` while the instances wait. 0 when none were retained.
Seconds RetainedTime(const WarmPool& pool, WallTime now);

// When it ends if nobody takes it. REQUIRES: retained_from.
WallTime ExpiryOf(const WarmPool& pool, Seconds keep_alive);

}  // namespace sabia::model
