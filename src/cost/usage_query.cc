#include "cost/usage_query.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/encoding.h"

namespace sabia::cost {
namespace {

using model::LedgerEntry;
using model::LedgerKind;

constexpr std::array<std::string_view, 10> kDimensions{
    "INSTANCE_TYPE", "LINKED_ACCOUNT", "OPERATION", "PURCHASE_TYPE", "SERVICE",
    "USAGE_TYPE",    "RECORD_TYPE",    "REGION",    "SERVICE_CODE",  "BILLING_ENTITY"};

// How usage types begin, as they do on bills; eu-west-1 is the oldest in Europe, and has no number.
constexpr std::array<std::pair<std::string_view, std::string_view>, 34> kPrefixes = {{
    {"af-south-1", "AFS1"},     {"ap-east-1", "APE1"},      {"ap-east-2", "APE2"},
    {"ap-northeast-1", "APN1"}, {"ap-northeast-2", "APN2"}, {"ap-northeast-3", "APN3"},
    {"ap-south-1", "APS3"},     {"ap-south-2", "APS5"},     {"ap-southeast-1", "APS1"},
    {"ap-southeast-2", "APS2"}, {"ap-southeast-3", "APS4"}, {"ap-southeast-4", "APS6"},
    {"ap-southeast-5", "APS7"}, {"ap-southeast-6", "APS8"}, {"ap-southeast-7", "APS9"},
    {"ca-central-1", "CAN1"},   {"ca-west-1", "CAN2"},      {"eu-central-1", "EUC1"},
    {"eu-central-2", "EUC2"},   {"eu-north-1", "EUN1"},     {"eu-south-1", "EUS1"},
    {"eu-south-2", "EUS2"},     {"eu-west-1", "EU"},        {"eu-west-2", "EUW2"},
    {"eu-west-3", "EUW3"},      {"il-central-1", "ILC1"},   {"me-central-1", "MEC1"},
    {"me-south-1", "MES1"},     {"mx-central-1", "MXC1"},   {"sa-east-1", "SAE1"},
    {"us-east-1", "USE1"},      {"us-east-2", "USE2"},      {"us-west-1", "USW1"},
    {"us-west-2", "USW2"},
}};

std::string UsageTypeOf(const LedgerEntry& entry) {
  std::string_view prefix = entry.region;
  for (const auto& [region, short_name] : kPrefixes) {
    if (region == entry.region) prefix = short_name;
  }
  const std::string_view use = entry.kind == LedgerKind::kSpot       ? "TrSpt"
                               : entry.kind == LedgerKind::kWarmPool ? "TrainWarmPool"
                                                                     : "Train";
  return fmt::format("{}-{}:{}", prefix, use, entry.instance_type);
}

bool Matches(std::string_view value, std::string_view wanted, Condition::Match match) {
  switch (match) {
    case Condition::Match::kEquals:
      return value == wanted;
    case Condition::Match::kStartsWith:
      return value.starts_with(wanted);
    case Condition::Match::kEndsWith:
      return value.ends_with(wanted);
    case Condition::Match::kContains:
      return value.find(wanted) != value.npos;
  }
  return false;
}

bool MatchesOne(const Condition& condition, const std::string& value) {
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const auto& wanted) {
    return condition.ignore_case ? Matches(ToLower(value), ToLower(wanted), condition.match)
                                 : Matches(value, wanted, condition.match);
  });
}

bool HasTag(const LedgerEntry& entry, std::string_view key) {
  return std::any_of(entry.tags.begin(), entry.tags.end(),
                     [&](const auto& tag) { return tag.first == key; });
}

// Without a tag, Cost Explorer looks at the empty value.
bool TagHolds(const Condition& condition, const LedgerEntry& entry) {
  const bool absent = !HasTag(entry, condition.key);
  if (condition.absent) return absent;
  return MatchesOne(condition, TagOf(entry, condition.key));
}

std::vector<std::string> GroupOf(const LedgerEntry& entry, const UsageQuery& query) {
  std::vector<std::string> out;
  for (const Grouping& grouping : query.groupings) {
    out.push_back(grouping.by_tag ? grouping.key + "$" + TagOf(entry, grouping.key)
                                  : DimensionOf(entry, grouping.key));
  }
  return out;
}

WallTime EndOfPeriod(WallTime from, Granularity granularity) {
  if (granularity == Granularity::kHourly)
    return std::chrono::floor<std::chrono::hours>(from) + std::chrono::hours(1);
  const auto day = std::chrono::floor<std::chrono::days>(from);
  if (granularity == Granularity::kDaily) return day + std::chrono::days(1);
  const std::chrono::year_month_day date(day);
  return std::chrono::sys_days((date.year() / date.month() + std::chrono::months(1)) / 1);
}

}  // namespace

std::span<const std::string_view> Dimensions() { return kDimensions; }

bool IsDimension(std::string_view name) {
  return std::find(kDimensions.begin(), kDimensions.end(), name) != kDimensions.end();
}

std::string DimensionOf(const LedgerEntry& entry, std::string_view dimension) {
  if (dimension == "INSTANCE_TYPE") return entry.instance_type;
  if (dimension == "LINKED_ACCOUNT") return entry.account;
  if (dimension == "OPERATION") return "RunInstance";
  if (dimension == "PURCHASE_TYPE")
    return entry.kind == LedgerKind::kSpot ? "Spot Instances" : "On Demand Instances";
  if (dimension == "SERVICE") return "Amazon SageMaker";
  if (dimension == "USAGE_TYPE") return UsageTypeOf(entry);
  if (dimension == "RECORD_TYPE") return "Usage";
  if (dimension == "REGION") return entry.region;
  if (dimension == "SERVICE_CODE") return "AmazonSageMaker";
  if (dimension == "BILLING_ENTITY") return "AWS";
  CHECK_MSG(false, "no dimension");
}

std::string TagOf(const LedgerEntry& entry, std::string_view key) {
  for (const auto& [name, value] : entry.tags) {
    if (name == key) return value;
  }
  return "";
}

bool Condition::Holds(const LedgerEntry& entry) const {
  const auto holds = [&](const Condition& operand) { return operand.Holds(entry); };
  switch (kind) {
    case Kind::kAlways:
      return true;
    case Kind::kAnd:
      return std::all_of(operands.begin(), operands.end(), holds);
    case Kind::kOr:
      return std::any_of(operands.begin(), operands.end(), holds);
    case Kind::kNot:
      return std::none_of(operands.begin(), operands.end(), holds);
    case Kind::kDimension:
      return MatchesOne(*this, DimensionOf(entry, key));
    case Kind::kTag:
      return TagHolds(*this, entry);
  }
  return false;
}

std::vector<Period> PeriodsOf(const Period& whole, Granularity granularity) {
  std::vector<Period> out;
  for (WallTime from = whole.from; from < whole.to;) {
    const WallTime to = std::min(whole.to, EndOfPeriod(from, granularity));
    out.push_back({from, to});
    from = to;
  }
  return out;
}

std::vector<PeriodUsage> SumUsage(const std::vector<LedgerEntry>& entries,
                                  const std::vector<Period>& periods, const UsageQuery& query) {
  std::vector<PeriodUsage> out;
  for (const Period& period : periods) out.push_back({period, {}, {}});
  for (const LedgerEntry& entry : entries) {
    if (entry.kind == LedgerKind::kWaiting || entry.start >= entry.end) continue;
    if (!query.condition.Holds(entry)) continue;
    const std::vector<std::string> group = GroupOf(entry, query);
    auto at = std::upper_bound(out.begin(), out.end(), entry.start,
                               [](WallTime t, const auto& p) { return t < p.period.to; });
    for (; at != out.end() && at->period.from < entry.end; ++at) {
      const Usage part = UsageWithin(entry, at->period);
      at->total += part;
      if (!group.empty()) at->groups[group] += part;
    }
  }
  return out;
}

}  // namespace sabia::cost
