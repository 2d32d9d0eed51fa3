#include "s3/bucket_rules.h"

#include <mutex>

#include "base/log.h"
#include "s3/settings.h"

namespace sabia::s3 {
namespace {

// The parsed document of this kind, or nothing.
template <typename Parse>
auto ReadSetting(const BucketInfo& bucket, const SettingKind& kind, Parse parse) {
  using Parsed = typename decltype(parse(std::string_view()))::value_type;
  const std::string* const document = FindSetting(bucket, kind);
  if (document == nullptr) return Parsed();
  auto parsed = parse(*document);
  if (parsed) return std::move(*parsed);
  LogError("bucket '{}' has a document '{}' that cannot be read: {}", bucket.name, kind.name,
           parsed.error().message);
  return Parsed();
}

// Nobody but the root key gets past this, and that only to put another one.
BucketPolicy DenyingPolicy() {
  PolicyStatement everything;
  everything.principals = {PolicyPrincipal{}};
  everything.actions = {"*"};
  everything.resources = {"*"};
  return {false, {std::move(everything)}};
}

std::optional<BucketPolicy> ReadPolicy(const BucketInfo& bucket) {
  const std::string* const document = FindSetting(bucket, kPolicySetting);
  if (document == nullptr) return std::nullopt;
  auto parsed = ParsePolicy(*document, bucket.name);
  if (parsed) return std::move(*parsed);
  LogError("bucket '{}' has a policy that cannot be read, so everything is denied: {}", bucket.name,
           parsed.error().message);
  return DenyingPolicy();
}

PublicAccessBlock ReadBlock(const BucketInfo& bucket) {
  const std::string* const document = FindSetting(bucket, kPublicAccessSetting);
  if (document == nullptr) return {};
  auto parsed = ParsePublicAccessBlock(*document);
  if (parsed) return *parsed;
  LogError("bucket '{}' has a public access block that cannot be read, so all of it is on: {}",
           bucket.name, parsed.error().message);
  return {};
}

}  // namespace

std::shared_ptr<const BucketRules> ReadBucketRules(const BucketInfo& bucket) {
  auto out = std::make_shared<BucketRules>();
  out->cors = ReadSetting(bucket, kCorsSetting, ParseCors);
  out->lifecycle = ReadSetting(bucket, kLifecycleSetting, [](std::string_view document) {
    return ParseLifecycle(document, "");
  });
  out->encryption = ReadSetting(bucket, kEncryptionSetting, [](std::string_view document) {
    return ParseBucketEncryption(document).map(
        [](BucketEncryption&& parsed) { return std::optional(std::move(parsed)); });
  });
  out->policy = ReadPolicy(bucket);
  out->public_policy = out->policy && IsPublic(*out->policy);
  out->public_access = ReadBlock(bucket);
  return out;
}

std::shared_ptr<const BucketRules> BucketRulesCache::Get(const BucketHandle& bucket) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(bucket->name);
    if (found != entries_.end() && found->second.source == bucket) return found->second.rules;
  }
  auto rules = ReadBucketRules(*bucket);
  const std::unique_lock lock(mutex_);
  entries_.insert_or_assign(bucket->name, Entry{bucket, rules});
  return rules;
}

}  // namespace sabia::s3
