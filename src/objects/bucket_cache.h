// All buckets in memory, so that a request need not read their rows.
//
// The rows are the truth: whoever changes them calls Refresh() after the commit and before it
// answers, and everybody who asks afterwards sees the change.
//
// Threading: thread-safe. Errors: kNotFound with "bucket" as first word.
#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "objects/types.h"
#include "store/database.h"

namespace sabia::objects {

class BucketCache {
 public:
  explicit BucketCache(store::Database& database) : database_(database) {}

  Status Load();
  Status Refresh(std::string_view name);
  Result<BucketHandle> Find(std::string_view name) const;
  std::vector<BucketHandle> All() const;  // by name

 private:
  store::Database& database_;
  std::mutex refreshing_;  // the last to refresh has read the latest rows
  mutable std::shared_mutex mutex_;
  std::map<std::string, BucketHandle, std::less<>> buckets_;  // guarded by mutex_
};

}  // namespace sabia::objects
