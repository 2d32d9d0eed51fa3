// A bucket's lifecycle rules: what they say, and when they say it of an object, a version or an
// upload.
//
// As on AWS an action is due at the midnight (UTC) that follows the object's day plus the rule's
// days, or at the rule's date. Transitions to other storage classes are refused by name.
//
// Pure; any thread. Errors: MalformedXML, InvalidArgument, InvalidRequest with AWS's sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/engine.h"
#include "wire/aws_error.h"

namespace sabia::s3 {

struct LifecycleFilter {
  std::string prefix;
  Tags tags;
  std::optional<std::uint64_t> larger_than;
  std::optional<std::uint64_t> smaller_than;

  // The key lies below the prefix by the caller's care.
  bool MatchesSize(std::uint64_t size) const;
  bool MatchesTags(const Tags& object) const;
};

struct LifecycleRule {
  std::string id;
  bool enabled = false;
  LifecycleFilter filter;
  bool has_filter = true;  // written as <Filter>, not as the older <Prefix>
  // Of current objects: one of the three.
  std::optional<std::int64_t> expire_days;
  std::optional<WallTime> expire_date;
  bool remove_lone_markers = false;
  // Of versions that are not current.
  std::optional<std::int64_t> noncurrent_days;
  std::optional<std::int64_t> newer_noncurrent;  // so many of them are kept whatever their age
  std::optional<std::int64_t> abort_days;        // of uploads
};

// 1 to 1,000 rules. id_base: names rules that have no id, with their number.
wire::AwsResult<std::vector<LifecycleRule>> ParseLifecycle(std::string_view document,
                                                           std::string_view id_base);
std::string WriteLifecycle(const std::vector<LifecycleRule>& rules);

// The midnight after `from` plus so many days.
WallTime DueAfter(WallTime from, std::int64_t days);
// When the rule expires a current object of that age; nullopt: never.
std::optional<WallTime> ExpiryOf(const LifecycleRule& rule, WallTime modified);

struct Expiry {
  WallTime at;
  std::string rule_id;
};
// The first expiry that the enabled rules foresee for a current object. REQUIRES: its tags are
// filled in.
std::optional<Expiry> NextExpiry(const std::vector<LifecycleRule>& rules, const ObjectInfo& object);
// Likewise for an upload that is not completed.
std::optional<Expiry> NextAbort(const std::vector<LifecycleRule>& rules, std::string_view key,
                                WallTime initiated);

}  // namespace sabia::s3
