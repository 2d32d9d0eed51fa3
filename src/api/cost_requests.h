// What the Cost Explorer actions share: reading periods, filters, groups and metrics of a request,
// pages, and the wording of refusals. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cost/usage_query.h"
#include "wire/aws_error.h"

namespace sabia::api {

// TimePeriod: dates, or hours for kHourly; not in the future, and no further back than Cost
// Explorer looks.
wire::AwsResult<cost::Period> PeriodOf(const json::object& request, cost::Granularity granularity,
                                       WallTime now);
// Granularity, which must be given.
wire::AwsResult<cost::Granularity> GranularityOf(const json::object& request);
// Filter; kAlways when absent.
wire::AwsResult<cost::Condition> ConditionOf(const json::object& request);
// GroupBy: at most two.
wire::AwsResult<std::vector<cost::Grouping>> GroupingsOf(const json::object& request);

enum class Metric { kMoney, kHours, kNormalized };
struct NamedMetric {
  std::string name;  // as answers write it
  Metric metric = Metric::kMoney;
};
// One metric by either spelling, "UnblendedCost" or "UNBLENDED_COST"; nothing when it is none.
std::optional<NamedMetric> FindMetric(std::string_view name);
wire::AwsResult<std::vector<NamedMetric>> MetricsOf(const json::object& request);
json::object MetricToJson(Metric metric, const cost::Usage& usage);

// Only the account's own view exists.
wire::AwsResult<void> CheckBillingView(const json::object& request, std::string_view account);

// Where a page ended: behind row `key` of period `period`. A token belongs to its request.
struct PageEnd {
  std::size_t period = 0;
  std::vector<std::string> key;
};
// Nothing for the first page.
wire::AwsResult<std::optional<PageEnd>> PageEndOf(const json::object& request);
std::string TokenOf(const json::object& request, const PageEnd& end);

}  // namespace sabia::api
