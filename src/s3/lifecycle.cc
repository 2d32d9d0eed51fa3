#include "s3/lifecycle.h"

#include <algorithm>
#include <set>

namespace sabia::s3 {
namespace {

using Days = std::chrono::days;

// The better of two.
void Earlier(std::optional<Expiry>& best, std::optional<WallTime> at, const LifecycleRule& rule) {
  if (at && (!best || *at < best->at)) best = Expiry{*at, rule.id};
}

}  // namespace

bool LifecycleFilter::MatchesSize(std::uint64_t size) const {
  return (!larger_than || size > *larger_than) && (!smaller_than || size < *smaller_than);
}

bool LifecycleFilter::MatchesTags(const Tags& object) const {
  return std::all_of(tags.begin(), tags.end(), [&](const auto& tag) {
    const auto found = object.find(tag.first);
    return found != object.end() && found->second == tag.second;
  });
}

WallTime DueAfter(WallTime from, std::int64_t days) {
  return std::chrono::floor<Days>(from) + Days(days) + Days(1);
}

std::optional<WallTime> ExpiryOf(const LifecycleRule& rule, WallTime modified) {
  if (rule.expire_date) return std::max(*rule.expire_date, modified);
  if (rule.expire_days) return DueAfter(modified, *rule.expire_days);
  return std::nullopt;
}

std::optional<Expiry> NextExpiry(const std::vector<LifecycleRule>& rules,
                                 const ObjectInfo& object) {
  std::optional<Expiry> out;
  for (const LifecycleRule& rule : rules) {
    if (!rule.enabled || !object.key.starts_with(rule.filter.prefix) ||
        !rule.filter.MatchesSize(object.size) || !rule.filter.MatchesTags(object.tags)) {
      continue;
    }
    Earlier(out, ExpiryOf(rule, object.modified), rule);
  }
  return out;
}

std::optional<Expiry> NextAbort(const std::vector<LifecycleRule>& rules, std::string_view key,
                                WallTime initiated) {
  std::optional<Expiry> out;
  for (const LifecycleRule& rule : rules) {
    if (!rule.enabled || !rule.abort_days || !key.starts_with(rule.filter.prefix)) continue;
    Earlier(out, DueAfter(initiated, *rule.abort_days), rule);
  }
  return out;
}

}  // namespace sabia::s3
