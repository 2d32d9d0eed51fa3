// From the record of a job to the lines of the ledger: which instance was used when, at which
// price.
//
// An attempt bills every instance of the job from the moment when the attempt was ready
// (downloading or training began on all hosts) to its end. Before that the job waits, which is
// shown and free. What a spot attempt did after its newest checkpoint was lost when the job had to
// go on in another attempt. Each instance of an attempt has one line, so no second of an instance
// is in two. A price that a market gave for all instances is shared among them by their list
// prices. Instances that a job left in a warm pool go on costing what they cost, on demand, in a
// line of their own that is written when the pool ends or is taken.
//
// Pure; any thread.
#pragma once

#include <vector>

#include "cost/price_lists.h"
#include "model/ledger_entry.h"
#include "model/training_job.h"

namespace sabia::cost {

// What the step of a job adds to the ledger: lines of the attempt that ends with it, and of waiting
// that ends in nothing, of a warm pool that ends. The same step gives the same lines.
std::vector<model::LedgerEntry> EntriesOfStep(const PriceLists& prices,
                                              const model::TrainingJob& before,
                                              const model::TrainingJob& after);

// All lines of a job. Those of a running attempt, or of waiting that goes on, reach up to now and
// are not for the ledger.
std::vector<model::LedgerEntry> EntriesOfJob(const PriceLists& prices,
                                             const model::TrainingJob& job, WallTime now);

// What the part of a line in [from, to) cost. Exact over any cut: the parts of a line add up to the
// line, and lines to their sum.
Money CostWithin(const model::LedgerEntry& entry, WallTime from, WallTime to);
inline Money CostOfEntry(const model::LedgerEntry& entry) {
  return CostWithin(entry, entry.start, entry.end);
}
// How much of the billed interval lies in [from, to).
Millis TimeWithin(const model::LedgerEntry& entry, WallTime from, WallTime to);

}  // namespace sabia::cost
