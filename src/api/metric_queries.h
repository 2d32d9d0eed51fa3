// GetMetricStatistics and GetMetricData: statistics of stored points by period.
//
// Threading: thread-safe. GetMetricData's token is a position in the answer for the same request;
// with points added meanwhile a page boundary may move by those points, as on AWS.
#pragma once

#include "store/series.h"
#include "wire/action.h"

namespace sabia::api {

wire::AwsResult<json::object> GetMetricStatistics(store::Series& series,
                                                  const wire::CallContext& context,
                                                  const json::object& request);
wire::AwsResult<json::object> GetMetricData(store::Series& series, const wire::CallContext& context,
                                            const json::object& request);

}  // namespace sabia::api
