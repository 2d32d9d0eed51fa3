// What a bucket's documents mean, read once and kept for as long as they do not change.
//
// Threading: thread-safe; what is handed out is immutable.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "s3/cors.h"
#include "s3/engine.h"
#include "s3/lifecycle.h"

namespace sabia::s3 {

struct BucketRules {
  std::vector<CorsRule> cors;
  std::vector<LifecycleRule> lifecycle;
};

class BucketRulesCache {
 public:
  // Of this very state of the bucket. A document that cannot be read any more is logged and counts
  // as absent.
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
