// What a bucket's documents mean, read once and kept for as long as they do not change.
//
// Threading: thread-safe; what is handed out is immutable.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "s3/bucket_encryption.h"
#include "s3/cors.h"
#include "s3/engine.h"
#include "s3/lifecycle.h"
#include "s3/policy.h"
#include "s3/public_access.h"

namespace sabia::s3 {

struct BucketRules {
  std::vector<CorsRule> cors;
  std::vector<LifecycleRule> lifecycle;
  std::optional<BucketEncryption> encryption;
  std::optional<BucketPolicy> policy;
  bool public_policy = false;
  PublicAccessBlock public_access;
};

std::shared_ptr<const BucketRules> ReadBucketRules(const BucketInfo& bucket);

class BucketRulesCache {
 public:
  // Of this very state of the bucket. A document that cannot be read any more is logged and counts
  // as absent; a policy, as one that denies everything.
  std::shared_ptr<const BucketRules> Get(const BucketHandle& bucket);

 private:
  struct Entry {
    BucketHandle source;
    std::shared_ptr<const BucketRules> rules;
  };
  std::shared_mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;  // guarded by mutex_
};

}  // namespace sabia::s3
