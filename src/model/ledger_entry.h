// One line of the ledger: what one instance was used for, from when to when, and at which price.
//
// A line states facts that no longer change: it is written when the use has ended, with the price
// that was in force then, and never afterwards. The instance and the kind are its key, so recording
// the same use twice is recording it once. Sums over lines are sums over uses.
//
// Times are UTC in milliseconds, intervals half open. Pure values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/money.h"
#include "base/time.h"

namespace sabia::model {

// Stored as its number: append only, never renumber.
enum class LedgerKind : int {
  kOnDemand = 1,
  kSpot = 2,
  kWarmPool = 3,  // kept for the next job after its own had ended
  kWaiting = 4,   // an instance that was waited for and never came; costs nothing
};

std::string_view Name(LedgerKind kind);  // "on-demand", "spot", "warm-pool", "waiting"

struct LedgerEntry {
  std::string instance;  // <uid>-<attempt>-<number>
  LedgerKind kind = LedgerKind::kOnDemand;
  std::string job_name;
  std::string job_arn;
  std::string region;
  std::string account;
  std::string instance_type;
  WallTime waited_from;  // until `start` the job waited for the instance: shown, never billed
  WallTime start;        // billed from here …
  WallTime end;          // … to here
  // What was done from here to the end was in no checkpoint, and had to be done again.
  std::optional<WallTime> lost_from;
  // The price list it was billed by: its date and the region that it was looked up in; "" when no
  // list had a price.
  std::string price_date;
  std::string price_region;
  Money on_demand_per_hour;
  Money per_hour;  // what it was billed at
  // Those of the job when the line was written, in order of insertion; set by the store.
  std::vector<std::pair<std::string, std::string>> tags;
};

}  // namespace sabia::model
