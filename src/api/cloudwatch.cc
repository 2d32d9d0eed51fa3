#include "api/cloudwatch.h"

#include <cmath>

#include "api/metric_queries.h"
#include "api/metric_requests.h"
#include "base/encoding.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using store::Series;
using wire::AwsResult;
using wire::CallContext;
using wire::Pass;

// One datum of PutMetricData; `path` is "MetricData.member.1", as CloudWatch's messages name it.
class DatumReader {
 public:
  DatumReader(const std::string& metric_namespace, const json::object& datum, std::string path)
      : datum_(datum), path_(std::move(path)) {
    sample_.key.metric_namespace = metric_namespace;
  }

  AwsResult<void> Read(WallTime now, std::vector<Series::Sample>& out) {
    sample_.key.metric = GetString(datum_, "MetricName");
    ASSIGN_OR_RETURN(sample_.key.dimensions, DimensionsOf(datum_));
    sample_.point.unit = GetString(datum_, "Unit", "None");
    RETURN_IF_ERROR(ReadTime(now));
    const int ways =
        datum_.contains("Value") + datum_.contains("StatisticValues") + datum_.contains("Values");
    if (ways != 1) {
      return RefuseCombination(
          "The parameters {0}.Value, {0}.Values and {0}.StatisticValues are mutually exclusive, "
          "and one of "
          "them must be specified.",
          path_);
    }
    if (datum_.contains("Value")) return ReadValue(out);
    if (datum_.contains("Values")) return ReadValues(out);
    return ReadStatistics(out);
  }

 private:
  AwsResult<void> ReadTime(WallTime now) {
    const auto seconds = FindDouble(datum_, "Timestamp");
    sample_.point.time = seconds ? FromUnixSeconds(*seconds) : now;
    if (sample_.point.time > now + model::kMetricFutureMax) {
      return RefuseValue(
          "The parameter {}.Timestamp must specify a time no more than two hours in the future.",
          path_);
    }
    if (sample_.point.time < now - model::kMetricPastMax) {
      return RefuseValue(
          "The parameter {}.Timestamp must specify a time within the past two weeks.", path_);
    }
    return {};
  }

  AwsResult<double> Finite(const json::value* value, std::string_view member) {
    const auto number = value == nullptr ? std::nullopt : NumberOf(*value);
    if (!number || !std::isfinite(*number)) {
      return RefuseValue("The value {} for parameter {}.{} is invalid.",
                         value == nullptr ? "null" : json::serialize(*value), path_, member);
    }
    return *number;
  }

  void Emit(double value, double count, std::vector<Series::Sample>& out) {
    sample_.point.value = value * count;
    sample_.point.count = count;
    sample_.point.minimum = sample_.point.maximum = value;
    out.push_back(sample_);
  }

  AwsResult<void> ReadValue(std::vector<Series::Sample>& out) {
    ASSIGN_OR_RETURN(const double value, Finite(datum_.if_contains("Value"), "Value"));
    Emit(value, 1, out);
    return {};
  }

  AwsResult<void> ReadValues(std::vector<Series::Sample>& out) {
    const json::array& values = *FindArray(datum_, "Values");
    const json::array* counts = FindArray(datum_, "Counts");
    if (values.empty() || values.size() > model::kMetricValuesPerDatumMax) {
      return RefuseValue("The collection {}.Values must have a size from 1 to {}.", path_,
                         model::kMetricValuesPerDatumMax);
    }
    if (counts != nullptr && counts->size() != values.size()) {
      return RefuseCombination("The parameters {0}.Values and {0}.Counts must have the same size.",
                               path_);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSIGN_OR_RETURN(const double value, Finite(&values[i], "Values"));
      double count = 1;
      if (counts != nullptr) {
        ASSIGN_OR_RETURN(count, Finite(&(*counts)[i], "Counts"));
        if (count <= 0)
          return RefuseValue("The value {} for parameter {}.Counts is invalid.", count, path_);
      }
      Emit(value, count, out);
    }
    return {};
  }

  AwsResult<void> ReadStatistics(std::vector<Series::Sample>& out) {
    const json::object& set = *FindObject(datum_, "StatisticValues");
    ASSIGN_OR_RETURN(sample_.point.count,
                     Finite(set.if_contains("SampleCount"), "StatisticValues.SampleCount"));
    ASSIGN_OR_RETURN(sample_.point.value, Finite(set.if_contains("Sum"), "StatisticValues.Sum"));
    ASSIGN_OR_RETURN(sample_.point.minimum,
                     Finite(set.if_contains("Minimum"), "StatisticValues.Minimum"));
    ASSIGN_OR_RETURN(sample_.point.maximum,
                     Finite(set.if_contains("Maximum"), "StatisticValues.Maximum"));
    if (sample_.point.count <= 0) {
      return RefuseValue("The parameter {}.StatisticValues.SampleCount must be greater than 0.",
                         path_);
    }
    if (sample_.point.minimum > sample_.point.maximum) {
      return RefuseValue(
          "The parameter {0}.StatisticValues.Minimum must not exceed {0}.StatisticValues.Maximum.",
          path_);
    }
    out.push_back(sample_);
    return {};
  }

  const json::object& datum_;
  std::string path_;
  Series::Sample sample_;
};

AwsResult<json::object> PutMetricData(Series& series, const CallContext& context,
                                      const json::object& request) {
  if (const json::array* entities = FindArray(request, "EntityMetricData");
      (entities != nullptr && !entities->empty()) || GetBool(request, "StrictEntityValidation")) {
    return RefuseValue("EntityMetricData is not supported: put the metrics in MetricData.");
  }
  const std::string metric_namespace = GetString(request, "Namespace");
  if (metric_namespace.starts_with("AWS/")) {
    return RefuseValue("The value AWS/ for parameter Namespace is invalid.");
  }
  const json::array* data = FindArray(request, "MetricData");
  if (data == nullptr || data->empty()) {
    return wire::Refuse("MissingParameter", 400, "The parameter MetricData is required.");
  }
  if (data->size() > model::kMetricDatumsPerPutMax) {
    return RefuseValue("The collection MetricData must not have a size greater than {}.",
                       model::kMetricDatumsPerPutMax);
  }
  std::vector<Series::Sample> samples;
  for (std::size_t i = 0; i < data->size(); ++i) {
    DatumReader reader(metric_namespace, (*data)[i].get_object(),
                       fmt::format("MetricData.member.{}", i + 1));
    RETURN_IF_ERROR(reader.Read(context.now, samples));
  }
  const Status written = series.Put(samples);
  if (!written) return Pass(written.error());
  return json::object{};
}

json::object ToJson(const store::SeriesKey& key) {
  return {{"Namespace", key.metric_namespace},
          {"MetricName", key.metric},
          {"Dimensions", DimensionsToJson(key.dimensions)}};
}

// A token is the last key of a page: new metrics do not shift the pages.
AwsResult<store::SeriesKey> FromToken(std::string_view token) {
  const auto text = Base64Decode(token);
  const auto parsed = text ? ParseJsonObject(*text) : Result<json::object>(json::object());
  if (!text || !parsed || !FindString(*parsed, "MetricName")) {
    return wire::Refuse("InvalidNextToken", 400, "The specified NextToken is invalid.");
  }
  store::SeriesKey key;
  key.metric_namespace = GetString(*parsed, "Namespace");
  key.metric = GetString(*parsed, "MetricName");
  if (const json::array* dimensions = FindArray(*parsed, "Dimensions"); dimensions != nullptr) {
    for (const json::value& value : *dimensions) {
      if (!value.is_object()) continue;
      key.dimensions[GetString(value.get_object(), "Name")] =
          GetString(value.get_object(), "Value");
    }
  }
  return key;
}

AwsResult<json::object> ListMetrics(Series& series, const CallContext& context,
                                    const json::object& request) {
  if (request.contains("RecentlyActive")) return RefuseValue("RecentlyActive is not supported.");
  if (GetBool(request, "IncludeLinkedAccounts")) {
    return RefuseValue("IncludeLinkedAccounts is not supported: there is one account here.");
  }
  const std::string owner = GetString(request, "OwningAccount", context.principal.account);
  Series::Filter filter;
  filter.metric_namespace = GetString(request, "Namespace");
  filter.metric = GetString(request, "MetricName");
  ASSIGN_OR_RETURN(filter.dimensions, DimensionsOf(request));
  store::SeriesKey after;
  const auto token = FindString(request, "NextToken");
  if (token) {
    ASSIGN_OR_RETURN(after, FromToken(*token));
  }
  json::object out;
  json::array metrics;
  if (owner == context.principal.account) {
    const auto found =
        series.Find(filter, token ? &after : nullptr, model::kListMetricsPageMax + 1);
    if (!found) return Pass(found.error());
    for (const store::SeriesKey& key : *found) {
      if (metrics.size() == model::kListMetricsPageMax) {
        out["NextToken"] = Base64Encode(json::serialize(metrics[metrics.size() - 1]));
        break;
      }
      metrics.push_back(ToJson(key));
    }
  }
  out["Metrics"] = std::move(metrics);
  return out;
}

}  // namespace

void RegisterCloudWatch(wire::ActionTable& table, store::Series& series) {
  const auto add = [&](const char* action, auto function) {
    table.Add("cloudwatch", action,
              [&series, function](const CallContext& context, const json::object& request) {
                return function(series, context, request);
              });
  };
  add("PutMetricData", PutMetricData);
  add("ListMetrics", ListMetrics);
  add("GetMetricStatistics", GetMetricStatistics);
  add("GetMetricData", GetMetricData);
}

}  // namespace sabia::api
