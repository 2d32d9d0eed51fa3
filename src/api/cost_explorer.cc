#include "api/cost_explorer.h"

#include <algorithm>
#include <map>

#include "api/cost_requests.h"
#include "base/encoding.h"

namespace sabia::api {
namespace {

using cost::Granularity;
using wire::AwsResult;
using wire::CallContext;
using wire::Pass;
using wire::RefuseValidation;

constexpr std::size_t kRowsPerPage = 1'000;    // groups, or periods without groups
constexpr std::size_t kValuesPerPage = 1'000;  // when MaxResults is absent

std::string TimeText(WallTime when, Granularity granularity) {
  const std::string text = FormatIso8601Seconds(when);
  return granularity == Granularity::kHourly ? text : text.substr(0, 10);
}

json::object Amounts(const std::vector<NamedMetric>& metrics, const cost::Usage& usage) {
  json::object out;
  for (const NamedMetric& metric : metrics) out[metric.name] = MetricToJson(metric.metric, usage);
  return out;
}

json::array KeysToJson(const std::vector<std::string>& keys) {
  json::array out;
  for (const std::string& key : keys) out.emplace_back(key);
  return out;
}

// GetCostAndUsage, read.
struct Question {
  Granularity granularity = Granularity::kDaily;
  cost::Period period;
  std::vector<NamedMetric> metrics;
  cost::UsageQuery query;
  std::optional<PageEnd> after;
};

AwsResult<Question> Read(const CallContext& context, const json::object& request) {
  Question out;
  RETURN_IF_ERROR(CheckBillingView(request, context.principal.account));
  ASSIGN_OR_RETURN(out.granularity, GranularityOf(request));
  ASSIGN_OR_RETURN(out.period, PeriodOf(request, out.granularity, context.now));
  ASSIGN_OR_RETURN(out.metrics, MetricsOf(request));
  ASSIGN_OR_RETURN(out.query.condition, ConditionOf(request));
  ASSIGN_OR_RETURN(out.query.groupings, GroupingsOf(request));
  ASSIGN_OR_RETURN(out.after, PageEndOf(request));
  return out;
}

// Fills one page with periods and their groups; a period with many groups may go over several.
class PageWriter {
 public:
  PageWriter(const Question& question, WallTime now) : question_(question), now_(now) {}

  // Where the page ended, when it is full.
  std::optional<PageEnd> Write(const std::vector<cost::PeriodUsage>& periods) {
    const std::size_t first = question_.after ? question_.after->period : 0;
    for (std::size_t i = first; i < periods.size(); ++i) {
      const bool goes_on = question_.after && i == first;
      auto group =
          goes_on ? periods[i].groups.upper_bound(question_.after->key) : periods[i].groups.begin();
      if (goes_on && group == periods[i].groups.end()) continue;
      if (rows_ >= kRowsPerPage) return last_;
      json::array groups;
      for (; group != periods[i].groups.end() && rows_ < kRowsPerPage; ++group) {
        groups.push_back(json::object{{"Keys", KeysToJson(group->first)},
                                      {"Metrics", Amounts(question_.metrics, group->second)}});
        last_ = {i, group->first};
        ++rows_;
      }
      if (groups.empty()) {
        last_ = {i, {}};
        ++rows_;
      }
      AddPeriod(periods[i], std::move(groups));
      if (group != periods[i].groups.end()) return last_;
    }
    return std::nullopt;
  }
  json::array Take() { return std::move(results_); }

 private:
  void AddPeriod(const cost::PeriodUsage& usage, json::array groups) {
    const bool grouped = !question_.query.groupings.empty();
    results_.push_back(json::object{
        {"TimePeriod", json::object{{"Start", TimeText(usage.period.from, question_.granularity)},
                                    {"End", TimeText(usage.period.to, question_.granularity)}}},
        {"Total", grouped ? json::object() : Amounts(question_.metrics, usage.total)},
        {"Groups", std::move(groups)},
        {"Estimated", usage.period.to > now_}});
  }

  const Question& question_;
  const WallTime now_;
  json::array results_;
  std::size_t rows_ = 0;
  PageEnd last_;
};

AwsResult<json::object> GetCostAndUsage(const UsageParts& parts, const CallContext& context,
                                        const json::object& request) {
  ASSIGN_OR_RETURN(const Question question, Read(context, request));
  const auto entries = ReadUsage(parts, {question.period.from, question.period.to}, context.now);
  if (!entries) return Pass(entries.error());
  const auto periods = cost::SumUsage(
      *entries, cost::PeriodsOf(question.period, question.granularity), question.query);
  PageWriter page(question, context.now);
  const auto end = page.Write(periods);
  json::object out{{"ResultsByTime", page.Take()}, {"DimensionValueAttributes", json::array()}};
  if (const json::array* groups = FindArray(request, "GroupBy")) out["GroupDefinitions"] = *groups;
  if (end) out["NextPageToken"] = TokenOf(request, *end);
  return out;
}

// GetDimensionValues and GetTags: the values that occur in a period.
struct ValueQuestion {
  cost::Period period;
  cost::UsageQuery query;
  std::string search;
  std::optional<NamedMetric> sort_by;
  bool descending = false;
  std::size_t limit = kValuesPerPage;
  std::optional<PageEnd> after;
};

AwsResult<void> ReadSort(const json::object& request, ValueQuestion& out) {
  const json::array* sorts = FindArray(request, "SortBy");
  if (sorts == nullptr || sorts->empty()) return {};
  if (sorts->size() > 1) return RefuseValidation("SortBy may have one sort definition");
  const json::object& sort = sorts->front().get_object();
  out.sort_by = FindMetric(GetString(sort, "Key"));
  if (!out.sort_by) return RefuseValidation("SortBy key {} is invalid", GetString(sort, "Key"));
  out.descending = GetString(sort, "SortOrder") == "DESCENDING";
  // The order is that of sums, which change: a page of it has no lasting end.
  for (const char* member : {"NextPageToken", "SearchString"}) {
    if (request.contains(member))
      return RefuseValidation("{} is not supported together with SortBy", member);
  }
  return {};
}

AwsResult<ValueQuestion> ReadValues(const CallContext& context, const json::object& request) {
  ValueQuestion out;
  RETURN_IF_ERROR(CheckBillingView(request, context.principal.account));
  ASSIGN_OR_RETURN(out.period, PeriodOf(request, Granularity::kDaily, context.now));
  ASSIGN_OR_RETURN(out.query.condition, ConditionOf(request));
  out.search = ToLower(GetString(request, "SearchString"));
  RETURN_IF_ERROR(ReadSort(request, out));
  out.limit = static_cast<std::size_t>(
      std::min<std::int64_t>(GetInt(request, "MaxResults", kValuesPerPage), kValuesPerPage));
  ASSIGN_OR_RETURN(out.after, PageEndOf(request));
  return out;
}

using Value = std::pair<std::string, cost::Usage>;

bool Less(const Metric& metric, const Value& a, const Value& b) {
  if (metric == Metric::kMoney) return a.second.cost < b.second.cost;
  return metric == Metric::kHours && a.second.time < b.second.time;
}

struct ValuePage {
  std::vector<std::string> values;
  std::size_t total = 0;
  std::optional<PageEnd> end;
};

ValuePage PageOf(std::vector<Value> values, const ValueQuestion& question) {
  std::erase_if(values, [&](const Value& value) {
    return ToLower(value.first).find(question.search) == std::string::npos;
  });
  if (question.sort_by) {
    std::stable_sort(values.begin(), values.end(), [&](const Value& a, const Value& b) {
      return question.descending ? Less(question.sort_by->metric, b, a)
                                 : Less(question.sort_by->metric, a, b);
    });
  }
  ValuePage out;
  out.total = values.size();
  for (const Value& value : values) {
    if (question.after && !question.after->key.empty() && value.first <= question.after->key[0])
      continue;
    if (out.values.size() == question.limit) {
      if (!question.sort_by) out.end = PageEnd{0, {out.values.back()}};
      break;
    }
    out.values.push_back(value.first);
  }
  return out;
}

json::object PageToJson(const json::object& request, const ValuePage& page, std::string_view member,
                        json::array values) {
  json::object out{{"ReturnSize", values.size()}, {"TotalSize", page.total}};
  out[member] = std::move(values);
  if (page.end) out["NextPageToken"] = TokenOf(request, *page.end);
  return out;
}

AwsResult<json::object> GetDimensionValues(const UsageParts& parts, const CallContext& context,
                                           const json::object& request) {
  ASSIGN_OR_RETURN(ValueQuestion question, ReadValues(context, request));
  const std::string dimension = GetString(request, "Dimension");
  if (!cost::IsDimension(dimension)) {
    return RefuseValidation("Dimension {} is not supported: there are no values of it here",
                            dimension);
  }
  question.query.groupings = {{false, dimension}};
  std::vector<Value> found;
  // Reservations and savings plans do not exist here: they have no values.
  if (GetString(request, "Context", "COST_AND_USAGE") == "COST_AND_USAGE") {
    const auto entries = ReadUsage(parts, {question.period.from, question.period.to}, context.now);
    if (!entries) return Pass(entries.error());
    const auto sums = cost::SumUsage(*entries, {question.period}, question.query);
    for (const auto& [key, usage] : sums.front().groups) found.emplace_back(key.front(), usage);
  }
  const ValuePage page = PageOf(std::move(found), question);
  json::array values;
  for (const std::string& value : page.values)
    values.push_back(json::object{{"Value", value}, {"Attributes", json::object()}});
  return PageToJson(request, page, "DimensionValues", std::move(values));
}

// The keys of tags, or the values of one key.
std::vector<Value> TagsIn(const std::vector<model::LedgerEntry>& entries,
                          const ValueQuestion& question, const std::string& key) {
  std::map<std::string, cost::Usage> found;
  for (const model::LedgerEntry& entry : entries) {
    if (entry.start >= entry.end || !question.query.condition.Holds(entry)) continue;
    for (const auto& [name, value] : entry.tags) {
      if (!key.empty() && name != key) continue;
      found[key.empty() ? name : value] += cost::UsageWithin(entry, question.period);
    }
    // What lacks the tag is a value too, the empty one.
    if (!key.empty() && std::none_of(entry.tags.begin(), entry.tags.end(),
                                     [&](const auto& tag) { return tag.first == key; }))
      found[""];
  }
  return {found.begin(), found.end()};
}

AwsResult<json::object> GetTags(const UsageParts& parts, const CallContext& context,
                                const json::object& request) {
  ASSIGN_OR_RETURN(const ValueQuestion question, ReadValues(context, request));
  const auto entries = ReadUsage(parts, {question.period.from, question.period.to}, context.now);
  if (!entries) return Pass(entries.error());
  const ValuePage page = PageOf(TagsIn(*entries, question, GetString(request, "TagKey")), question);
  return PageToJson(request, page, "Tags", KeysToJson(page.values));
}

}  // namespace

void RegisterCostExplorer(wire::ActionTable& table, const UsageParts& parts) {
  const auto add = [&](const char* action, auto function) {
    table.Add("ce", action,
              [parts, function](const CallContext& context, const json::object& request) {
                return function(parts, context, request);
              });
  };
  add("GetCostAndUsage", GetCostAndUsage);
  add("GetDimensionValues", GetDimensionValues);
  add("GetTags", GetTags);
}

}  // namespace sabia::api
