// Buckets and objects: the engine behind the S3 API, and the direct view that controllers have of it.
//
// One immutable file per object version (mode 0444) and one index row. A PUT writes a temporary file, syncs it,
// renames it, then commits the row: an acknowledged object survives kill -9 and power loss, an interrupted one leaves
// nothing visible, and orphans are collected at start. Overwriting makes a new file; readers of the old one keep it.
// Keys are bytes (UTF-8, 1..1024); they never become part of a path.
//
// Threading: thread-safe; calls block on the disk. Errors: kNotFound names which of bucket or key is missing through
// the message's first word "bucket" or "key"; kAlreadyExists, kConflict (bucket not empty), kInvalidArgument,
// kCorrupt, and those of Database.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "env/clock.h"
#include "env/files.h"
#include "env/posix/posix_files.h"
#include "env/random.h"
#include "store/database.h"
#include "store/paths.h"

namespace sabia::objects {

struct BucketInfo {
  std::string name;
  WallTime created;
  std::string region;
};

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;        // without quotes: hex MD5, or "<hex>-<parts>" for multipart uploads
  WallTime modified;
  std::string blob_id;     // names the file
  // Lower-case names: "content-type", "cache-control", …, and user metadata as "x-amz-meta-…".
  std::map<std::string, std::string> metadata;
  // "crc32" → base64 value as AWS prints it ("…-<parts>" for composite multipart checksums).
  std::map<std::string, std::string> checksums;
};

// An upload in progress: bytes go to a temporary file; nothing is visible before Commit. Destroyed without Commit:
// the bytes are gone. Thread-compatible.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual Status Write(std::string_view data) = 0;
  virtual std::uint64_t size() const = 0;
  // Hex MD5 of what was written, final; also available before Commit so that Content-MD5 can be compared.
  virtual std::string FinishMd5() = 0;
};

struct PutOptions {
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> checksums;
  bool if_none_match = false;             // "*": only when the key does not exist; else kAlreadyExists
  std::optional<std::string> if_match;    // only when the current ETag equals; else kConflict
};

struct ListOptions {
  std::string prefix;
  std::string delimiter;     // "" for none
  std::string start_after;   // exclusive; keys or common prefixes at or before it are not returned
  std::size_t limit = 1000;  // keys and common prefixes together
};

struct Listing {
  std::vector<ObjectInfo> objects;            // in byte order of keys
  std::vector<std::string> common_prefixes;   // in byte order
  bool truncated = false;
  std::string next_start_after;               // pass as start_after for the next page
};

struct PartInfo {
  int number = 0;
  std::uint64_t size = 0;
  std::string etag;
  WallTime modified;
  std::map<std::string, std::string> checksums;
};

struct MultipartInfo {
  std::string upload_id;
  std::string key;
  WallTime initiated;
  PutOptions options;
};

struct ObjectStoreOptions {
  store::Paths paths;
  std::string region = "us-west-2";
};

class ObjectStore {
 public:
  // Opens the index, empties blobs/tmp, collects orphaned blobs.
  static Result<std::unique_ptr<ObjectStore>> Open(ObjectStoreOptions options, env::Clock& clock,
                                                   env::Random& random);
  virtual ~ObjectStore() = default;

  virtual Status CreateBucket(std::string_view bucket) = 0;   // kAlreadyExists when it exists
  virtual Status DeleteBucket(std::string_view bucket) = 0;   // kConflict when not empty
  virtual Result<BucketInfo> GetBucket(std::string_view bucket) = 0;
  virtual Result<std::vector<BucketInfo>> ListBuckets() = 0;

  virtual Result<std::unique_ptr<Upload>> BeginUpload() = 0;
  // Publishes the upload under the key, replacing what was there.
  virtual Result<ObjectInfo> Put(std::string_view bucket, std::string_view key,
                                 std::unique_ptr<Upload> upload, const PutOptions& options) = 0;
  virtual Result<ObjectInfo> Head(std::string_view bucket, std::string_view key) = 0;
  // The object and a descriptor of its file, which stays readable whatever happens to the key meanwhile.
  struct Opened {
    ObjectInfo info;
    env::UniqueFd fd;
  };
  virtual Result<Opened> Get(std::string_view bucket, std::string_view key) = 0;
  virtual Result<Listing> List(std::string_view bucket, const ListOptions& options) = 0;
  // A missing key counts as deleted.
  virtual Status Delete(std::string_view bucket, std::string_view key) = 0;
  // One commit for all keys.
  virtual Status DeleteMany(std::string_view bucket, const std::vector<std::string>& keys) = 0;
  struct ObjectName {
    std::string bucket;
    std::string key;
  };
  // A new version with the same bytes (a hard link, no copy); metadata of the source unless replaced.
  virtual Result<ObjectInfo> Copy(const ObjectName& from, const ObjectName& to,
                                  const std::optional<std::map<std::string, std::string>>& metadata) = 0;

  virtual Result<std::string> CreateMultipart(std::string_view bucket, std::string_view key,
                                              const PutOptions& options) = 0;
  struct PartName {
    std::string bucket;
    std::string key;
    std::string upload_id;
    int number = 0;
  };
  virtual Result<PartInfo> PutPart(const PartName& name, std::unique_ptr<Upload> upload,
                                   const std::map<std::string, std::string>& checksums) = 0;
  // parts: number and ETag in ascending order. kNotFound: no such upload; kInvalidArgument with the message's first
  // word "InvalidPart", "InvalidPartOrder" or "EntityTooSmall".
  virtual Result<ObjectInfo> CompleteMultipart(const PartName& upload,
                                               const std::vector<PartInfo>& parts) = 0;
  virtual Status AbortMultipart(const PartName& upload) = 0;
  virtual Result<std::vector<PartInfo>> ListParts(const PartName& upload) = 0;
  virtual Result<std::vector<MultipartInfo>> ListMultiparts(std::string_view bucket,
                                                            std::string_view prefix) = 0;

  // Path of a blob, for hard links into a job's channel. REQUIRES: the id came from an ObjectInfo of this store.
  virtual env::Path BlobPath(const ObjectInfo& info) const = 0;
};

}  // namespace sabia::objects
