#include "objects/bucket_cache.h"

#include "objects/bucket_index.h"

namespace sabia::objects {

Status BucketCache::Load() {
  return database_.Read([this](store::Connection& connection) -> Status {
    ASSIGN_OR_RETURN(std::vector<BucketInfo> rows, index::ReadBuckets(connection));
    const std::unique_lock lock(mutex_);
    buckets_.clear();
    for (BucketInfo& row : rows) {
      std::string name = row.name;
      buckets_.emplace(std::move(name), std::make_shared<const BucketInfo>(std::move(row)));
    }
    return {};
  });
}

Status BucketCache::Refresh(std::string_view name) {
  const std::lock_guard refreshing(refreshing_);
  BucketHandle fresh;
  RETURN_IF_ERROR(database_.Read([&](store::Connection& connection) -> Status {
    auto row = index::ReadBucket(connection, name);
    if (row) fresh = std::make_shared<const BucketInfo>(std::move(*row));
    if (row || row.error().code == ErrorCode::kNotFound) return {};
    return tl::make_unexpected(row.error());
  }));
  const std::unique_lock lock(mutex_);
  if (fresh) {
    buckets_.insert_or_assign(std::string(name), std::move(fresh));
  } else if (const auto gone = buckets_.find(name); gone != buckets_.end()) {
    buckets_.erase(gone);
  }
  return {};
}

Result<BucketHandle> BucketCache::Find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = buckets_.find(name);
  if (found != buckets_.end()) return found->second;
  return Fail(ErrorCode::kNotFound, "bucket '{}' does not exist", name);
}

std::vector<BucketHandle> BucketCache::All() const {
  const std::shared_lock lock(mutex_);
  std::vector<BucketHandle> out;
  out.reserve(buckets_.size());
  for (const auto& [name, bucket] : buckets_) out.push_back(bucket);
  return out;
}

}  // namespace sabia::objects
