#include "api/metric_queries.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "api/metric_requests.h"
#include "api/metric_statistics.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using store::Series;
using wire::AwsResult;
using wire::CallContext;
using wire::Pass;

struct Range {
  WallTime start;
  WallTime end;
};

AwsResult<Range> RangeOf(const json::object& request) {
  const Range range{FromUnixSeconds(GetDouble(request, "StartTime")),
                    FromUnixSeconds(GetDouble(request, "EndTime"))};
  if (range.start < range.end) return range;
  return RefuseValue("The parameter StartTime must be less than the parameter EndTime.");
}

AwsResult<Seconds> PeriodOf(const json::object& in) {
  const std::int64_t period = GetInt(in, "Period");
  const bool short_period =
      period == 1 || period == 5 || period == 10 || period == 20 || period == 30;
  // A day is the longest that AWS documents; without a bound the arithmetic could overflow.
  if (short_period || (period > 0 && period % 60 == 0 && period <= 366 * 86'400))
    return Seconds(period);
  return RefuseValue("The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60.");
}

AwsResult<std::vector<PeriodStatistics>> Load(Series& series, const json::object& metric,
                                              const Range& range, Seconds period,
                                              const std::string& unit) {
  store::SeriesKey key;
  key.metric_namespace = GetString(metric, "Namespace");
  key.metric = GetString(metric, "MetricName");
  ASSIGN_OR_RETURN(key.dimensions, DimensionsOf(metric));
  const auto points = series.Query(key, FloorToPeriod(range.start, period), range.end);
  if (!points) return Pass(points.error());
  return GroupByPeriod(*points, period, unit);
}

AwsResult<std::vector<Statistic>> StatisticsOf(const json::object& request) {
  std::vector<Statistic> out;
  for (const char* member : {"Statistics", "ExtendedStatistics"}) {
    const json::array* list = FindArray(request, member);
    if (list == nullptr) continue;
    for (const json::value& name : *list) {
      auto statistic = Statistic::Parse(View(name.get_string()));
      if (!statistic)
        return RefuseValue("The parameter {} is invalid: {}", member, statistic.error().message);
      out.push_back(std::move(*statistic));
    }
  }
  if (!out.empty()) return out;
  return wire::Refuse(
      "MissingParameter", 400,
      "At least one of the parameters Statistics and ExtendedStatistics must be specified.");
}

json::object ToDatapoint(const PeriodStatistics& period, const std::vector<Statistic>& statistics) {
  json::object out{{"Timestamp", ToUnixSeconds(period.start)}, {"Unit", period.unit}};
  json::object extended;
  for (const Statistic& statistic : statistics) {
    const auto value = period.Value(statistic);
    if (!value) continue;
    (statistic.is_percentile() ? extended : out)[statistic.name()] = *value;
  }
  if (!extended.empty()) out["ExtendedStatistics"] = std::move(extended);
  return out;
}

struct Query {
  std::string id;
  std::string label;
  std::vector<std::pair<WallTime, double>> values;
};

AwsResult<void> CheckQuery(const CallContext& context, const json::object& in,
                           const std::string& id) {
  const bool good = !id.empty() && id[0] >= 'a' && id[0] <= 'z' &&
                    std::all_of(id.begin(), id.end(),
                                [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!good) {
    return RefuseValue(
        "The value {} for parameter MetricDataQueries.Id is invalid: it must begin with a "
        "lower-case letter and hold letters, digits and underscores.",
        id);
  }
  if (in.contains("Expression")) {
    return RefuseValue(
        "Expression of query {} is not supported: metric math and Metrics Insights are not "
        "implemented; use MetricStat.",
        id);
  }
  if (!in.contains("MetricStat")) {
    return RefuseCombination("Query {} must specify MetricStat.", id);
  }
  if (in.contains("Period")) {
    return RefuseCombination("Period of query {} belongs to expressions; use MetricStat.Period.",
                             id);
  }
  if (GetString(in, "AccountId", context.principal.account) != context.principal.account) {
    return RefuseValue("AccountId of query {} is not supported: there is one account here.", id);
  }
  if (GetString(in, "Label").find("${") != std::string::npos) {
    return RefuseValue("Label of query {} is not supported: dynamic labels are not implemented.",
                       id);
  }
  return {};
}

AwsResult<Query> Run(Series& series, const json::object& in, const Range& range, bool descending) {
  const json::object& stat = *FindObject(in, "MetricStat");
  const json::object& metric = *FindObject(stat, "Metric");
  const auto statistic = Statistic::Parse(GetString(stat, "Stat"));
  if (!statistic) {
    return RefuseValue("The parameter MetricStat.Stat is invalid: {}", statistic.error().message);
  }
  ASSIGN_OR_RETURN(const Seconds period, PeriodOf(stat));
  ASSIGN_OR_RETURN(const auto periods,
                   Load(series, metric, range, period, GetString(stat, "Unit")));
  Query query;
  query.id = GetString(in, "Id");
  query.label = GetString(in, "Label", GetString(metric, "MetricName"));
  for (const PeriodStatistics& one : periods) {
    if (const auto value = one.Value(*statistic)) query.values.emplace_back(one.start, *value);
  }
  if (descending) std::reverse(query.values.begin(), query.values.end());
  return query;
}

AwsResult<std::size_t> SkipOf(const json::object& request) {
  const auto token = FindString(request, "NextToken");
  if (!token) return std::size_t{0};
  std::size_t skip = 0;
  const auto [end, ec] = std::from_chars(token->data(), token->data() + token->size(), skip);
  if (ec == std::errc() && end == token->data() + token->size() && skip > 0) return skip;
  return wire::Refuse("InvalidNextToken", 400, "The specified NextToken is invalid.");
}

AwsResult<std::vector<Query>> RunAll(Series& series, const CallContext& context,
                                     const json::object& request) {
  const json::array& queries = *FindArray(request, "MetricDataQueries");
  if (queries.empty() || queries.size() > model::kMetricQueriesMax) {
    return RefuseValue("The collection MetricDataQueries must have a size from 1 to {}.",
                       model::kMetricQueriesMax);
  }
  ASSIGN_OR_RETURN(const Range range, RangeOf(request));
  const bool descending =
      GetString(request, "ScanBy", "TimestampDescending") == "TimestampDescending";
  std::set<std::string> ids;
  std::vector<Query> out;
  for (const json::value& value : queries) {
    const json::object& in = value.get_object();
    const std::string id = GetString(in, "Id");
    RETURN_IF_ERROR(CheckQuery(context, in, id));
    if (!ids.insert(id).second) return RefuseValue("The query id {} is given twice.", id);
    if (!GetBool(in, "ReturnData", true)) continue;
    ASSIGN_OR_RETURN(Query query, Run(series, in, range, descending));
    out.push_back(std::move(query));
  }
  return out;
}

}  // namespace

AwsResult<json::object> GetMetricStatistics(Series& series, const CallContext&,
                                            const json::object& request) {
  ASSIGN_OR_RETURN(const auto statistics, StatisticsOf(request));
  ASSIGN_OR_RETURN(const Range range, RangeOf(request));
  ASSIGN_OR_RETURN(const Seconds period, PeriodOf(request));
  const auto wanted = std::chrono::ceil<Seconds>(range.end - range.start) / period;
  if (wanted > static_cast<std::int64_t>(model::kStatisticsDatapointsMax)) {
    return RefuseCombination(
        "You have requested up to {} datapoints, which exceeds the limit of 1,440. You may reduce "
        "the "
        "datapoints requested by increasing Period, or decreasing the time range.",
        wanted);
  }
  ASSIGN_OR_RETURN(const auto periods,
                   Load(series, request, range, period, GetString(request, "Unit")));
  json::array datapoints;
  for (const PeriodStatistics& one : periods) datapoints.push_back(ToDatapoint(one, statistics));
  return json::object{{"Label", GetString(request, "MetricName")},
                      {"Datapoints", std::move(datapoints)}};
}

AwsResult<json::object> GetMetricData(Series& series, const CallContext& context,
                                      const json::object& request) {
  if (request.contains("LabelOptions")) {
    return RefuseValue("LabelOptions is not supported: dynamic labels are not implemented.");
  }
  const std::int64_t most = GetInt(request, "MaxDatapoints", model::kMetricDataDatapointsMax);
  if (most < 1 || most > static_cast<std::int64_t>(model::kMetricDataDatapointsMax)) {
    return RefuseValue("The parameter MaxDatapoints must be from 1 to {}.",
                       model::kMetricDataDatapointsMax);
  }
  ASSIGN_OR_RETURN(const std::size_t skip, SkipOf(request));
  ASSIGN_OR_RETURN(const std::vector<Query> queries, RunAll(series, context, request));

  // The answer is one long row of datapoints, query after query; a page is a window of it.
  const std::size_t page_end = skip + static_cast<std::size_t>(most);
  std::size_t at = 0;
  json::array results;
  for (const Query& query : queries) {
    json::array times, values;
    const std::size_t begin = at;
    for (const auto& [time, value] : query.values) {
      if (at >= skip && at < page_end) {
        times.push_back(ToUnixSeconds(time));
        values.push_back(value);
      }
      ++at;
    }
    if (begin < skip && at <= skip && at > begin) continue;  // told on an earlier page
    results.push_back({{"Id", query.id},
                       {"Label", query.label},
                       {"Timestamps", std::move(times)},
                       {"Values", std::move(values)},
                       {"StatusCode", at > page_end ? "PartialData" : "Complete"}});
  }
  json::object out{{"MetricDataResults", std::move(results)}, {"Messages", json::array()}};
  if (at > page_end) out["NextToken"] = std::to_string(page_end);
  return out;
}

}  // namespace sabia::api
