#include "s3/policy_actions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/encoding.h"
#include "s3/policy_match.h"

namespace sabia::s3 {
namespace {

// Operations whose action is not "s3:" and their own name.
struct Mapping {
  std::string_view operation;
  std::string_view action;
};
constexpr std::array kMappings = std::to_array<Mapping>({
    {"CompleteMultipartUpload", "PutObject"},
    {"CopyObject", "PutObject"},
    {"CreateMultipartUpload", "PutObject"},
    {"DeleteBucketAnalyticsConfiguration", "PutAnalyticsConfiguration"},
    {"DeleteBucketCors", "PutBucketCORS"},
    {"DeleteBucketEncryption", "PutEncryptionConfiguration"},
    {"DeleteBucketIntelligentTieringConfiguration", "PutIntelligentTieringConfiguration"},
    {"DeleteBucketInventoryConfiguration", "PutInventoryConfiguration"},
    {"DeleteBucketLifecycle", "PutLifecycleConfiguration"},
    {"DeleteBucketMetricsConfiguration", "PutMetricsConfiguration"},
    {"DeleteBucketOwnershipControls", "PutBucketOwnershipControls"},
    {"DeleteBucketReplication", "PutReplicationConfiguration"},
    {"DeleteBucketTagging", "PutBucketTagging"},
    {"DeleteObjects", "DeleteObject"},
    {"DeletePublicAccessBlock", "PutBucketPublicAccessBlock"},
    {"GetBucketAccelerateConfiguration", "GetAccelerateConfiguration"},
    {"GetBucketAnalyticsConfiguration", "GetAnalyticsConfiguration"},
    {"GetBucketCors", "GetBucketCORS"},
    {"GetBucketEncryption", "GetEncryptionConfiguration"},
    {"GetBucketIntelligentTieringConfiguration", "GetIntelligentTieringConfiguration"},
    {"GetBucketInventoryConfiguration", "GetInventoryConfiguration"},
    {"GetBucketLifecycleConfiguration", "GetLifecycleConfiguration"},
    {"GetBucketMetricsConfiguration", "GetMetricsConfiguration"},
    {"GetBucketNotificationConfiguration", "GetBucketNotification"},
    {"GetBucketReplication", "GetReplicationConfiguration"},
    {"GetObjectLockConfiguration", "GetBucketObjectLockConfiguration"},
    {"GetPublicAccessBlock", "GetBucketPublicAccessBlock"},
    {"HeadBucket", "ListBucket"},
    {"HeadObject", "GetObject"},
    {"ListBucketAnalyticsConfigurations", "GetAnalyticsConfiguration"},
    {"ListBucketIntelligentTieringConfigurations", "GetIntelligentTieringConfiguration"},
    {"ListBucketInventoryConfigurations", "GetInventoryConfiguration"},
    {"ListBucketMetricsConfigurations", "GetMetricsConfiguration"},
    {"ListBuckets", "ListAllMyBuckets"},
    {"ListMultipartUploads", "ListBucketMultipartUploads"},
    {"ListObjects", "ListBucket"},
    {"ListObjectVersions", "ListBucketVersions"},
    {"ListObjectsV2", "ListBucket"},
    {"ListParts", "ListMultipartUploadParts"},
    {"PutBucketAccelerateConfiguration", "PutAccelerateConfiguration"},
    {"PutBucketAnalyticsConfiguration", "PutAnalyticsConfiguration"},
    {"PutBucketCors", "PutBucketCORS"},
    {"PutBucketEncryption", "PutEncryptionConfiguration"},
    {"PutBucketIntelligentTieringConfiguration", "PutIntelligentTieringConfiguration"},
    {"PutBucketInventoryConfiguration", "PutInventoryConfiguration"},
    {"PutBucketLifecycleConfiguration", "PutLifecycleConfiguration"},
    {"PutBucketMetricsConfiguration", "PutMetricsConfiguration"},
    {"PutBucketNotificationConfiguration", "PutBucketNotification"},
    {"PutBucketReplication", "PutReplicationConfiguration"},
    {"PutObjectLockConfiguration", "PutBucketObjectLockConfiguration"},
    {"PutPublicAccessBlock", "PutBucketPublicAccessBlock"},
    {"SelectObjectContent", "GetObject"},
    {"UploadPart", "PutObject"},
    {"UploadPartCopy", "PutObject"},
});

// Actions that speak of a version when one is named.
constexpr std::array kVersioned = std::to_array<std::string_view>(
    {"DeleteObject", "DeleteObjectTagging", "GetObject", "GetObjectAcl", "GetObjectAttributes",
     "GetObjectTagging", "PutObjectAcl", "PutObjectTagging"});

constexpr std::array kBucketActions = std::to_array<std::string_view>({
    "CreateBucket",
    "DeleteBucket",
    "DeleteBucketPolicy",
    "DeleteBucketWebsite",
    "GetAccelerateConfiguration",
    "GetAnalyticsConfiguration",
    "GetBucketAcl",
    "GetBucketCORS",
    "GetBucketLocation",
    "GetBucketLogging",
    "GetBucketNotification",
    "GetBucketObjectLockConfiguration",
    "GetBucketOwnershipControls",
    "GetBucketPolicy",
    "GetBucketPolicyStatus",
    "GetBucketPublicAccessBlock",
    "GetBucketRequestPayment",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetEncryptionConfiguration",
    "GetIntelligentTieringConfiguration",
    "GetInventoryConfiguration",
    "GetLifecycleConfiguration",
    "GetMetricsConfiguration",
    "GetReplicationConfiguration",
    "ListBucket",
    "ListBucketMultipartUploads",
    "ListBucketVersions",
    "PutAccelerateConfiguration",
    "PutAnalyticsConfiguration",
    "PutBucketAcl",
    "PutBucketCORS",
    "PutBucketLogging",
    "PutBucketNotification",
    "PutBucketObjectLockConfiguration",
    "PutBucketOwnershipControls",
    "PutBucketPolicy",
    "PutBucketPublicAccessBlock",
    "PutBucketRequestPayment",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutBucketWebsite",
    "PutEncryptionConfiguration",
    "PutIntelligentTieringConfiguration",
    "PutInventoryConfiguration",
    "PutLifecycleConfiguration",
    "PutMetricsConfiguration",
    "PutReplicationConfiguration",
});

constexpr std::array kObjectActions = std::to_array<std::string_view>({
    "AbortMultipartUpload",
    "BypassGovernanceRetention",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjectVersion",
    "DeleteObjectVersionTagging",
    "GetObject",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectLegalHold",
    "GetObjectRetention",
    "GetObjectTagging",
    "GetObjectTorrent",
    "GetObjectVersion",
    "GetObjectVersionAcl",
    "GetObjectVersionAttributes",
    "GetObjectVersionForReplication",
    "GetObjectVersionTagging",
    "GetObjectVersionTorrent",
    "InitiateReplication",
    "ListMultipartUploadParts",
    "ObjectOwnerOverrideToBucketOwner",
    "PutObject",
    "PutObjectAcl",
    "PutObjectLegalHold",
    "PutObjectRetention",
    "PutObjectTagging",
    "PutObjectVersionAcl",
    "PutObjectVersionTagging",
    "ReplicateDelete",
    "ReplicateObject",
    "ReplicateTags",
    "RestoreObject",
});

template <typename Array>
bool AnyMatches(const Array& actions, std::string_view lower_pattern) {
  return std::any_of(actions.begin(), actions.end(), [&](std::string_view action) {
    return Matches(lower_pattern, "s3:" + ToLower(action));
  });
}

}  // namespace

std::string ActionOf(std::string_view operation, bool names_version) {
  std::string_view action = operation;
  const auto found = std::find_if(kMappings.begin(), kMappings.end(),
                                  [&](const Mapping& each) { return each.operation == operation; });
  if (found != kMappings.end()) action = found->action;
  std::string out = fmt::format("s3:{}", action);
  const bool versioned =
      std::find(kVersioned.begin(), kVersioned.end(), action) != kVersioned.end();
  if (names_version && versioned) {
    constexpr std::string_view kObject = "Object";
    out.insert(out.find(kObject) + kObject.size(), "Version");
  }
  return out;
}

ActionKinds KindsOf(std::string_view lower_pattern) {
  ActionKinds out;
  out.on_bucket = AnyMatches(kBucketActions, lower_pattern);
  out.on_object = AnyMatches(kObjectActions, lower_pattern);
  out.known = out.on_bucket || out.on_object;
  return out;
}

}  // namespace sabia::s3
