// The rows of objects.db: buckets, objects, and blobs that wait for removal
// (docs/formats/objects.md).
//
// Functions over a connection: the caller decides which of them form one transaction. A blob that
// loses its row enters the list of garbage in the same transaction, so that a crash between commit
// and unlink forgets nothing.
//
// Threading: as the Connection. Errors: kNotFound with "bucket" or "key" as first word, and those
// of Connection.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/object_store.h"
#include "store/connection.h"

namespace sabia::objects::index {

// For DatabaseOptions.
std::vector<std::string> Migrations();

// The id of a bucket's rows; never used again after the bucket is deleted.
using BucketId = std::int64_t;

Status InsertBucket(store::Connection& connection, const BucketInfo& bucket);
Status DeleteBucket(store::Connection& connection, std::string_view name);
Result<BucketInfo> ReadBucket(store::Connection& connection, std::string_view name);
Result<std::vector<BucketInfo>> ReadBuckets(store::Connection& connection);
Result<BucketId> FindBucket(store::Connection& connection, std::string_view name);

// kNotFound when there is no such key.
Result<ObjectInfo> ReadObject(store::Connection& connection, BucketId bucket, std::string_view key);
// Inserts or replaces; the conditions of options are checked in the same breath. origin: the upload
// id that made the object, or "".
Status WriteObject(store::Connection& connection, BucketId bucket, const ObjectInfo& object,
                   const PutOptions& conditions, std::string_view origin = "");
Status DeleteObject(store::Connection& connection, BucketId bucket, std::string_view key,
                    const std::optional<std::string>& if_match = std::nullopt);
// The upload id that made the object; "" for plain ones and missing keys.
Result<std::string> ReadOrigin(store::Connection& connection, BucketId bucket,
                               std::string_view key);
// Seeks over common prefixes: the cost grows with what is returned, not with what lies below a
// prefix.
Result<Listing> ListObjects(store::Connection& connection, BucketId bucket,
                            const ListOptions& options);

Status AddGarbage(store::Connection& connection, std::string_view blob_id);
Result<std::vector<std::string>> ReadGarbage(store::Connection& connection, std::size_t limit);
Status ForgetGarbage(store::Connection& connection, const std::vector<std::string>& blob_ids);
// Those of the candidates that an object or a part refers to. Reads every row: for the start after
// a crash only.
Result<std::set<std::string>> FindWanted(store::Connection& connection,
                                         const std::set<std::string>& candidates);

// Texts of columns: metadata as JSON, checksums as "crc32 y/Q5Jg==" (a listing decodes a thousand
// of them), sizes of parts as "8388608x12 4711x1".
// kInvalidArgument when a value is not UTF-8, which JSON cannot carry.
Result<std::string> EncodeMap(const std::map<std::string, std::string>& map);
Result<std::map<std::string, std::string>> DecodeMap(std::string_view text);
std::string EncodeChecksums(const std::map<std::string, std::string>& checksums);
Result<std::map<std::string, std::string>> DecodeChecksums(std::string_view text);
std::string EncodeSizes(const std::vector<std::uint64_t>& sizes);
Result<std::vector<std::uint64_t>> DecodeSizes(std::string_view text);

// The smallest byte string greater than every string that starts with prefix; nullopt when there is
// none.
std::optional<std::string> AfterPrefix(std::string prefix);

}  // namespace sabia::objects::index
