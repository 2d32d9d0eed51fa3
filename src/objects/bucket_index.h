// The rows of objects.db about buckets and their settings.
//
// Functions over a connection: the caller decides which of them form one transaction.
//
// Threading: as the Connection. Errors: kNotFound and kAlreadyExists with "bucket" as first word,
// and those of Connection.
#pragma once

#include <string_view>
#include <vector>

#include "objects/types.h"
#include "store/connection.h"

namespace sabia::objects::index {

using BucketId = std::int64_t;

// What writing into a bucket must know.
struct BucketRow {
  BucketId id = 0;
  Versioning versioning = Versioning::kOff;
};

Status InsertBucket(store::Connection& connection, const BucketInfo& bucket);
// kConflict when it holds objects or versions; unfinished uploads go with it.
Status DeleteBucket(store::Connection& connection, std::string_view name);
Result<BucketInfo> ReadBucket(store::Connection& connection, std::string_view name);
Result<std::vector<BucketInfo>> ReadBuckets(store::Connection& connection);
Result<BucketRow> FindBucket(store::Connection& connection, std::string_view name);

Status WriteVersioning(store::Connection& connection, std::string_view name, Versioning versioning);
// nullopt removes.
Status WriteSetting(store::Connection& connection, BucketId bucket, std::string_view name,
                    const std::optional<std::string>& document);

// The number of the bucket's next version.
Result<std::int64_t> NextSequence(store::Connection& connection, BucketId bucket);

}  // namespace sabia::objects::index
