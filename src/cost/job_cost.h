// What a training job cost, or costs so far, where the money went, and what the same work would
// have cost otherwise.
//
// All sums are over ledger lines (billing.h), so they are those of the ledger: an old job keeps the
// prices it was billed by. Billable time is what model::BillableTime counts: from the first
// preparation of each attempt on a ready instance to its end. On-demand cost is that of the same
// billable time at on-demand rates, so that the saving is that of the purchase option alone; work
// that an interruption made the job repeat is in both. The `otherwise` sums leave that work out,
// and the preparation of every attempt but the first that trained: what the job would have cost on
// capacity that nobody reclaims.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cost/billing.h"
#include "cost/usage.h"

namespace sabia::cost {

struct InstanceCost {
  std::string instance_type;
  int count = 0;
  Price price;
};

struct AttemptCost {
  int number = 0;
  bool spot = false;
  Millis billable{0};
  Millis lost{0};
  std::string end_reason;  // "" while it runs
  Money billed;
};

struct JobCost {
  std::string price_region;
  std::vector<InstanceCost> instances;
  std::vector<AttemptCost> attempts;
  std::vector<model::LedgerEntry> entries;  // by instance and kind
  Seconds training{0};                      // per instance, as DescribeTrainingJob tells it
  Seconds billable{0};
  UsageByKind use;
  Money billed;  // of the attempts
  Money on_demand;
  Money otherwise_on_demand;
  Money otherwise_spot;
  Money saved() const { return on_demand - billed; }
  Money total() const { return billed + use.warm_pool.cost; }
  double saving_percent() const;
  bool final = false;  // the job has ended; nothing is added any more
  // What makes the figures less exact: a region without prices, a type without a spot price.
  std::vector<std::string> notes;
};

// Both lists in one, by key; where both have a line, the ledger's counts.
std::vector<model::LedgerEntry> MergeEntries(std::vector<model::LedgerEntry> ledger,
                                             std::vector<model::LedgerEntry> derived);

// entries: of the ledger, as far as there are any. kNotFound: no list has a price for an instance
// type of the job.
Result<JobCost> CostOfJob(const PriceLists& prices, const model::TrainingJob& job, WallTime now,
                          std::vector<model::LedgerEntry> entries = {});

}  // namespace sabia::cost
