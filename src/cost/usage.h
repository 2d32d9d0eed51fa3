// Sums over lines of the ledger: how long instances were used, and what for which money.
//
// A line counts in a period with the part of it that lies there; parts add up exactly. Pure; any
// thread.
#pragma once

#include "base/money.h"
#include "base/time.h"
#include "model/ledger_entry.h"

namespace sabia::cost {

struct Period {
  WallTime from;
  WallTime to;
};

// Over all instances: two instances used for a second are two seconds.
struct Usage {
  Millis time{0};
  Money cost;

  Usage& operator+=(const Usage& part) {
    time += part.time;
    cost += part.cost;
    return *this;
  }
};

// What was used in the part of a line that is billed.
Usage UsageWithin(const model::LedgerEntry& entry, const Period& period);

struct UsageByKind {
  Usage on_demand;
  Usage spot;
  Usage warm_pool;
  Usage waiting;  // free
  Usage lost;     // a part of spot, or of on_demand after a retry

  void Add(const model::LedgerEntry& entry, const Period& period);
  Money total() const { return on_demand.cost + spot.cost + warm_pool.cost; }
};

}  // namespace sabia::cost
