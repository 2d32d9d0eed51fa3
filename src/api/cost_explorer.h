// Cost Explorer (service "ce"): what was used and what it cost, out of the ledger.
//
// GetCostAndUsage, GetDimensionValues, GetTags. Forecasts are not implemented: a machine that runs
// what its owner submits has no trend to go by. docs/semantics/cost.md has the rest.
//
// Threading: thread-safe.
#pragma once

#include "api/usage.h"
#include "wire/action.h"

namespace sabia::api {

// The parts must live as long as the table.
void RegisterCostExplorer(wire::ActionTable& table, const UsageParts& parts);

}  // namespace sabia::api
