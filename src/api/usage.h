// What was used: the lines of the ledger, and those of jobs that run, up to now.
//
// Threading: thread-safe.
#pragma once

#include <vector>

#include "cost/price_lists.h"
#include "cost/usage.h"
#include "model/ledger_entry.h"
#include "store/ledger.h"
#include "store/resources.h"

namespace sabia::api {

struct UsageParts {
  store::Resources& resources;
  store::Ledger& ledger;
  const cost::PriceLists& prices;
};

// Every use, waiting included, of which a part lies in the period, each once. A use that ends while
// this reads is either still open or in the ledger.
Result<std::vector<model::LedgerEntry>> ReadUsage(const UsageParts& parts,
                                                  const cost::Period& period, WallTime now);

}  // namespace sabia::api
