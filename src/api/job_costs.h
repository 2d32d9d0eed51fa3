// The cost of a job for `sabia cost`, behind /-/cost: an extension, not part of the AWS API.
//
// {"TrainingJobName"} → {"TrainingJobName", "Region", "PriceRegion", "ManagedSpotTraining",
// "Final",
//   "TrainingSeconds", "BillableSeconds" (per instance), "BilledUsd", "OnDemandUsd", "SavedUsd",
//   "SavingPercent", "Instances": [{"InstanceType", "InstanceCount", "OnDemandUsdPerHour",
//   "SpotUsdPerHour"?, "Basis"}], "Attempts": [{"Attempt", "Spot", "BillableSeconds", "BilledUsd",
//   "EndReason"?}], "Notes": [text]}
//
// Threading: thread-safe.
#pragma once

#include "cost/price_book.h"
#include "store/resources.h"
#include "wire/action.h"

namespace sabia::api {

wire::AwsResult<json::object> DescribeJobCost(store::Resources& resources,
                                              const cost::PriceBook& prices,
                                              const wire::CallContext& context,
                                              const json::object& request);

}  // namespace sabia::api
