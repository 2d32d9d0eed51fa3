// The cost of a job for `sabia cost`, behind /-/cost: an extension, not part of the AWS API.
//
// {"TrainingJobName"} → {"TrainingJobName", "Region", "PriceRegion", "ManagedSpotTraining",
// "Final",
//   "TrainingSeconds", "BillableSeconds" (per instance), "BilledUsd", "OnDemandUsd", "SavedUsd",
//   "SavingPercent", "Instances": [{"InstanceType", "InstanceCount", "OnDemandUsdPerHour",
//   "SpotUsdPerHour"?, "Basis"}], "Attempts": [{"Attempt", "Spot", "BillableSeconds",
//   "LostSeconds", "BilledUsd", "EndReason"?}], "Totals": {"OnDemand", "Spot", "Waiting",
//   "LostWork", "WarmPool": {"InstanceSeconds", "Usd"}}, "TotalUsd", "Otherwise": {"OnDemandUsd",
//   "SpotUsd"}, "Ledger": [{"Instance", "Kind", "InstanceType", "WaitedFrom", "Start", "End",
//   "LostFrom"?, "UsdPerHour", "Usd", "PriceDate"}], "Notes": [text]}
// What is below Totals, Otherwise and Ledger, and TotalUsd, are exact decimal numbers in strings.
//
// Without a job: {"Days"?, "TagKey"?} → {"Start", "End", "Days": [{"Date", "Tag"?, "OnDemand",
// "Spot", "WarmPool", "LostWork", "Waiting": {"InstanceSeconds", "Usd"}, "TotalUsd"}], "TotalUsd"}:
// what was used on each of the last days (UTC, today included), by the value of a tag if asked.
//
// Threading: thread-safe.
#pragma once

#include "api/usage.h"
#include "wire/action.h"

namespace sabia::api {

wire::AwsResult<json::object> DescribeJobCost(const UsageParts& parts,
                                              const wire::CallContext& context,
                                              const json::object& request);
wire::AwsResult<json::object> DescribeCosts(const UsageParts& parts,
                                            const wire::CallContext& context,
                                            const json::object& request);

}  // namespace sabia::api
