// Questions to the ledger as Cost Explorer asks them: dimensions, conditions, periods, groups,
// sums.
//
// Waiting is no usage. Pure; any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/usage.h"

namespace sabia::cost {

// The dimensions of Cost Explorer that a line has a value for, by name.
std::span<const std::string_view> Dimensions();
bool IsDimension(std::string_view name);
// "ml.m5.large", "USE1-Train:ml.m5.large", "Spot Instances". REQUIRES: IsDimension(dimension).
std::string DimensionOf(const model::LedgerEntry& entry, std::string_view dimension);
// "" when the line has no such tag.
std::string TagOf(const model::LedgerEntry& entry, std::string_view key);

struct Condition {
  enum class Kind { kAlways, kAnd, kOr, kNot, kDimension, kTag };
  enum class Match { kEquals, kStartsWith, kEndsWith, kContains };
  Kind kind = Kind::kAlways;
  std::vector<Condition> operands;  // of kAnd, kOr, kNot
  std::string key;                  // of kDimension, kTag
  std::vector<std::string> values;  // one of them has to match
  Match match = Match::kEquals;
  bool ignore_case = false;
  bool absent = false;  // of kTag: the line has no such tag

  bool Holds(const model::LedgerEntry& entry) const;
};

struct Grouping {
  bool by_tag = false;
  std::string key;
};

enum class Granularity { kHourly, kDaily, kMonthly };
// The hours, days or months (UTC) that [from, to) consists of; the first and the last may be parts.
std::vector<Period> PeriodsOf(const Period& whole, Granularity granularity);

struct PeriodUsage {
  Period period;
  Usage total;
  // By the values of the groupings; "key$value" for tags, as Cost Explorer writes them.
  std::map<std::vector<std::string>, Usage> groups;
};

struct UsageQuery {
  Condition condition;
  std::vector<Grouping> groupings;
};

// One for each period. REQUIRES: the periods follow one another.
std::vector<PeriodUsage> SumUsage(const std::vector<model::LedgerEntry>& entries,
                                  const std::vector<Period>& periods, const UsageQuery& query);

}  // namespace sabia::cost
