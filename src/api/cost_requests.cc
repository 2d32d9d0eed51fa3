#include "api/cost_requests.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "store/page_token.h"

namespace sabia::api {
namespace {

using cost::Condition;
using cost::Granularity;
using wire::AwsResult;
using wire::RefuseValidation;

constexpr std::chrono::months kDaysBack{14};    // for days
constexpr std::chrono::months kMonthsBack{38};  // for whole months
constexpr std::chrono::days kHoursBack{14};
constexpr std::size_t kGroupingsMax = 2;
constexpr int kFilterDepthMax = 16;

std::chrono::year_month MonthOf(WallTime when) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(when));
  return date.year() / date.month();
}

WallTime FirstOf(std::chrono::year_month month) { return std::chrono::sys_days(month / 1); }

AwsResult<WallTime> TimeOf(const json::object& period, std::string_view member,
                           Granularity granularity) {
  const std::string text = GetString(period, member);
  const bool hour = text.find('T') != text.npos;
  if (hour != (granularity == Granularity::kHourly)) {
    return RefuseValidation(
        "{} {} is invalid: {} granularity takes {}", member, text, hour ? "this" : "HOURLY",
        hour ? "dates such as 2026-12-01" : "hours such as 2026-12-01T00:00:00Z");
  }
  const auto parsed = ParseIso8601(hour ? text : text + "T00:00:00Z");
  // A day that the month does not have must not become one of the next.
  if (!parsed || !FormatIso8601Seconds(*parsed).starts_with(text.substr(0, 10))) {
    return RefuseValidation("{} {} is no date", member, text);
  }
  if (hour && std::chrono::floor<std::chrono::hours>(*parsed) != *parsed)
    return RefuseValidation("{} {} is no full hour", member, text);
  return *parsed;
}

AwsResult<void> CheckReach(const cost::Period& period, Granularity granularity, WallTime now) {
  const std::chrono::year_month month = MonthOf(now);
  if (period.to > FirstOf(month + std::chrono::months(1)))
    return RefuseValidation("end date past the beginning of next month");
  if (granularity == Granularity::kHourly) {
    if (period.from >= std::chrono::floor<std::chrono::days>(now) - kHoursBack) return {};
    return RefuseValidation(
        "start date is too old for hourly, the max supported days for hourly granularity is 14 "
        "days");
  }
  if (period.from >= FirstOf(month - kDaysBack)) return {};
  if (granularity != Granularity::kMonthly || FirstOf(MonthOf(period.from)) != period.from) {
    return RefuseValidation(
        "To retrieve data beyond the past 14 months, your start date needs to be the first day of "
        "the month.");
  }
  if (period.from >= FirstOf(month - kMonthsBack)) return {};
  return wire::Refuse("DataUnavailableException", 400,
                      "Data is not available. Please try to adjust the time period.");
}

std::vector<std::string> TextsOf(const json::object& in, std::string_view member) {
  std::vector<std::string> out;
  const json::array* list = FindArray(in, member);
  if (list == nullptr) return out;
  for (const json::value& item : *list) {
    if (item.is_string()) out.emplace_back(View(item.get_string()));
  }
  return out;
}

AwsResult<void> SetMatch(const json::object& in, Condition& out) {
  for (const std::string& option : TextsOf(in, "MatchOptions")) {
    if (option == "EQUALS") {
      out.match = Condition::Match::kEquals;
    } else if (option == "STARTS_WITH") {
      out.match = Condition::Match::kStartsWith;
    } else if (option == "ENDS_WITH") {
      out.match = Condition::Match::kEndsWith;
    } else if (option == "CONTAINS") {
      out.match = Condition::Match::kContains;
    } else if (option == "CASE_INSENSITIVE") {
      out.ignore_case = true;
    } else if (option == "ABSENT" && out.kind == Condition::Kind::kTag) {
      out.absent = true;
    } else if (option != "CASE_SENSITIVE") {
      return RefuseValidation("Match option {} is not supported for {}", option, out.key);
    }
  }
  return {};
}

AwsResult<Condition> LeafOf(const json::object& in, Condition::Kind kind) {
  Condition out;
  out.kind = kind;
  out.key = GetString(in, "Key");
  if (out.key.empty()) return RefuseValidation("A filter must have a key");
  if (kind == Condition::Kind::kDimension && !cost::IsDimension(out.key)) {
    return RefuseValidation("Dimension {} is not allowed. Allowed dimension(s): {}", out.key,
                            fmt::join(cost::Dimensions(), ", "));
  }
  out.values = TextsOf(in, "Values");
  RETURN_IF_ERROR(SetMatch(in, out));
  if (out.values.empty() && !out.absent)
    return RefuseValidation("The filter on {} has no values", out.key);
  return out;
}

AwsResult<Condition> Read(const json::object& in, int depth);

AwsResult<Condition> OperandsOf(const json::array& in, Condition::Kind kind, int depth) {
  Condition out;
  out.kind = kind;
  if (in.size() < 2) {
    return RefuseValidation("{} expression must have at least 2 operands",
                            kind == Condition::Kind::kAnd ? "And" : "Or");
  }
  for (const json::value& operand : in) {
    if (!operand.is_object()) continue;  // the schema has said so
    ASSIGN_OR_RETURN(Condition read, Read(operand.get_object(), depth + 1));
    out.operands.push_back(std::move(read));
  }
  return out;
}

AwsResult<Condition> Read(const json::object& in, int depth) {
  if (depth > kFilterDepthMax)
    return RefuseValidation("The filter is nested deeper than {} levels", kFilterDepthMax);
  if (in.size() != 1) {
    return RefuseValidation(
        "Expression has {} of And, Or, Not, Dimensions and Tags: it must have exactly one",
        in.size());
  }
  const auto& [name, value] = *in.begin();
  const std::string_view member = name;
  if (member == "And" && value.is_array())
    return OperandsOf(value.get_array(), Condition::Kind::kAnd, depth);
  if (member == "Or" && value.is_array())
    return OperandsOf(value.get_array(), Condition::Kind::kOr, depth);
  if (member == "Dimensions" && value.is_object())
    return LeafOf(value.get_object(), Condition::Kind::kDimension);
  if (member == "Tags" && value.is_object())
    return LeafOf(value.get_object(), Condition::Kind::kTag);
  if (member != "Not" || !value.is_object())
    return RefuseValidation("{} is not supported in a filter here", member);
  Condition out;
  out.kind = Condition::Kind::kNot;
  ASSIGN_OR_RETURN(Condition operand, Read(value.get_object(), depth + 1));
  out.operands.push_back(std::move(operand));
  return out;
}

struct MetricName {
  std::string_view name;
  std::string_view constant;
  Metric metric;
};
// There are no reservations, discounts or other accounts here: all amounts of money are the same.
constexpr std::array<MetricName, 7> kMetrics{{
    {"AmortizedCost", "AMORTIZED_COST", Metric::kMoney},
    {"BlendedCost", "BLENDED_COST", Metric::kMoney},
    {"NetAmortizedCost", "NET_AMORTIZED_COST", Metric::kMoney},
    {"NetUnblendedCost", "NET_UNBLENDED_COST", Metric::kMoney},
    {"NormalizedUsageAmount", "NORMALIZED_USAGE_AMOUNT", Metric::kNormalized},
    {"UnblendedCost", "UNBLENDED_COST", Metric::kMoney},
    {"UsageQuantity", "USAGE_QUANTITY", Metric::kHours},
}};

// Milliseconds as hours with ten decimals, the last one rounded.
std::string HoursText(Millis time) {
  constexpr __int128 kTenDecimals = 10'000'000'000;
  constexpr __int128 kHour = 3'600'000;
  const auto scaled = static_cast<std::int64_t>((time.count() * kTenDecimals + kHour / 2) / kHour);
  std::string out = fmt::format("{}.{:010}", scaled / std::int64_t{10'000'000'000},
                                scaled % std::int64_t{10'000'000'000});
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

std::int64_t FingerprintOf(const json::object& request) {
  json::object own = request;
  own.erase("NextPageToken");
  return static_cast<std::int64_t>(store::SipHash({}, json::serialize(own)));
}

}  // namespace

AwsResult<cost::Granularity> GranularityOf(const json::object& request) {
  const std::string name = GetString(request, "Granularity");
  if (name == "HOURLY") return Granularity::kHourly;
  if (name == "DAILY") return Granularity::kDaily;
  return Granularity::kMonthly;  // the schema has no other
}

AwsResult<cost::Period> PeriodOf(const json::object& request, Granularity granularity,
                                 WallTime now) {
  const json::object* period = FindObject(request, "TimePeriod");
  if (period == nullptr) return RefuseValidation("TimePeriod must be given");
  cost::Period out;
  ASSIGN_OR_RETURN(out.from, TimeOf(*period, "Start", granularity));
  ASSIGN_OR_RETURN(out.to, TimeOf(*period, "End", granularity));
  if (out.from >= out.to)
    return RefuseValidation("Start date (and hour) should be before end date (and hour)");
  RETURN_IF_ERROR(CheckReach(out, granularity, now));
  if (out.from > now) {
    return RefuseValidation("The start date {} is after the current date",
                            GetString(*period, "Start"));
  }
  return out;
}

AwsResult<Condition> ConditionOf(const json::object& request) {
  const json::object* filter = FindObject(request, "Filter");
  if (filter == nullptr) return Condition();
  return Read(*filter, 0);
}

AwsResult<std::vector<cost::Grouping>> GroupingsOf(const json::object& request) {
  std::vector<cost::Grouping> out;
  const json::array* groups = FindArray(request, "GroupBy");
  if (groups == nullptr) return out;
  if (groups->size() > kGroupingsMax) {
    return RefuseValidation("GroupBy has {} group definitions: at most {} are allowed",
                            groups->size(), kGroupingsMax);
  }
  for (const json::value& value : *groups) {
    const json::object& group = value.get_object();
    const std::string type = GetString(group, "Type");
    cost::Grouping one{type == "TAG", GetString(group, "Key")};
    if (type.empty() || one.key.empty()) {
      return RefuseValidation(
          "Group Definition is invalid. Both type an key need to be set to a non-empty value.");
    }
    if (type != "TAG" && type != "DIMENSION")
      return RefuseValidation("Group Definition type is invalid.");
    if (!one.by_tag && !cost::IsDimension(one.key)) {
      return RefuseValidation("Group Definition dimension is invalid. Valid values are {}",
                              fmt::join(cost::Dimensions(), ", "));
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<NamedMetric> FindMetric(std::string_view name) {
  for (const MetricName& known : kMetrics) {
    if (known.name == name || known.constant == name)
      return NamedMetric{std::string(known.name), known.metric};
  }
  return std::nullopt;
}

AwsResult<std::vector<NamedMetric>> MetricsOf(const json::object& request) {
  const std::vector<std::string> names = TextsOf(request, "Metrics");
  if (names.empty()) return RefuseValidation("Metrics must have at least one metric");
  std::vector<NamedMetric> out;
  for (const std::string& name : names) {
    auto found = FindMetric(name);
    if (!found) {
      std::vector<std::string_view> known;
      for (const MetricName& metric : kMetrics) known.push_back(metric.name);
      return RefuseValidation("Metric {} is invalid. Valid values are {}", name,
                              fmt::join(known, ", "));
    }
    out.push_back(std::move(*found));
  }
  return out;
}

json::object MetricToJson(Metric metric, const cost::Usage& usage) {
  switch (metric) {
    case Metric::kMoney:
      return {{"Amount", usage.cost.ToExactString()}, {"Unit", "USD"}};
    case Metric::kHours:
      return {{"Amount", HoursText(usage.time)}, {"Unit", "Hrs"}};
    case Metric::kNormalized:
      break;  // only EC2's and RDS's usage has sizes to normalise
  }
  return {{"Amount", "0"}, {"Unit", "N/A"}};
}

AwsResult<void> CheckBillingView(const json::object& request, std::string_view account) {
  const auto view = FindString(request, "BillingViewArn");
  if (!view || *view == fmt::format("arn:aws:billing::{}:billingview/primary", account)) return {};
  return wire::Refuse("ResourceNotFoundException", 400, "Billing view {} does not exist", *view);
}

AwsResult<std::optional<PageEnd>> PageEndOf(const json::object& request) {
  const auto token = FindString(request, "NextPageToken");
  if (!token) return std::optional<PageEnd>();
  const auto text = Base64Decode(*token);
  const auto parsed = text ? ParseJsonObject(*text) : Result<json::object>(json::object());
  if (!text || !parsed || !FindInt(*parsed, "request") || !FindArray(*parsed, "key")) {
    return wire::Refuse("InvalidNextTokenException", 400, "The pagination token is invalid.");
  }
  if (GetInt(*parsed, "request") != FingerprintOf(request)) {
    return wire::Refuse("RequestChangedException", 400,
                        "The request parameters changed between pages.");
  }
  PageEnd out;
  out.period = static_cast<std::size_t>(std::max<std::int64_t>(0, GetInt(*parsed, "period")));
  out.key = TextsOf(*parsed, "key");
  return std::optional<PageEnd>(std::move(out));
}

std::string TokenOf(const json::object& request, const PageEnd& end) {
  json::array key;
  for (const std::string& part : end.key) key.emplace_back(part);
  return Base64Encode(json::serialize(json::object{
      {"request", FingerprintOf(request)}, {"period", end.period}, {"key", std::move(key)}}));
}

}  // namespace sabia::api
