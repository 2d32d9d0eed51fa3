// CloudWatch metrics over store::Series: PutMetricData, ListMetrics, GetMetricStatistics,
// GetMetricData.
//
// The JSON 1.0 and the query protocol reach the same handlers. Points keep their exact time;
// periods are made when they are read. Metric math, entities and linked accounts are refused by
// name.
//
// Threading: thread-safe. Errors: InvalidParameterValue, InvalidParameterCombination,
// MissingParameter, InvalidNextToken, as CloudWatch names them.
#pragma once

#include "store/series.h"
#include "wire/action.h"

namespace sabia::api {

// Handlers keep a reference to the series.
void RegisterCloudWatch(wire::ActionTable& table, store::Series& series);

}  // namespace sabia::api
