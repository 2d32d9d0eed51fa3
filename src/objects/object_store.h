// Buckets and objects: the engine behind the S3 API, and the direct view that controllers have of
// it.
//
// One immutable file per object (mode 0444) and one index row. A PUT writes a temporary file, syncs
// it and its directory, commits the row, then moves the file to its place: an acknowledged object
// survives kill -9 and power loss, and an interrupted one leaves nothing visible
// (docs/formats/objects.md). Overwriting makes a new file; readers of the old one keep it. Keys are
// bytes (UTF-8, 1..1024); they never become part of a path.
//
// Threading: thread-safe; calls block on the disk. Errors: kNotFound names what is missing through
// the message's first word "bucket", "key" or "upload"; kAlreadyExists, kConflict,
// kInvalidArgument, kCorrupt, and those of Database.
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
#include "objects/checksum.h"
#include "store/paths.h"

namespace sabia::objects {

// AWS's quotas.
inline constexpr std::size_t kKeyBytesMax = 1024;
inline constexpr std::uint64_t kSinglePutBytesMax = 5ULL << 30;
inline constexpr std::uint64_t kObjectBytesMax = 5ULL << 40;
inline constexpr std::uint64_t kPartBytesMin = 5ULL << 20;  // of every part but the last
inline constexpr int kPartNumberMax = 10'000;

struct BucketInfo {
  std::string name;
  WallTime created;
  std::string region;
};

using Metadata = std::map<std::string, std::string>;

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // without quotes: hex MD5, or "<hex>-<parts>" for multipart uploads
  WallTime modified;
  std::string blob_id;  // names the file
  // Lower-case names: "content-type", "cache-control", …, and user metadata as "x-amz-meta-…".
  // Empty in listings.
  Metadata metadata;
  // "crc32" → base64 value as AWS prints it ("…-<parts>" when it is composite).
  std::map<std::string, std::string> checksums;
  // Sizes of the parts of a multipart upload, in order; empty for others and in listings.
  std::vector<std::uint64_t> parts;
};

// An upload in progress: bytes go to a temporary file; nothing is visible before Put or PutPart
// takes it. Destroyed without that: the bytes are gone. Thread-compatible.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual Status Write(std::string_view data) = 0;
  virtual std::uint64_t size() const = 0;
  // Hex MD5 of what was written, so that Content-MD5 can be compared. No Write may follow.
  virtual std::string FinishMd5() = 0;
  // The base64 value. No Write may follow. REQUIRES: the algorithm was named to BeginUpload.
  virtual std::string FinishChecksum(ChecksumAlgorithm algorithm) = 0;
};

struct PutOptions {
  Metadata metadata;
  bool if_none_match = false;  // "*": only when the key does not exist; else kAlreadyExists
  std::optional<std::string>
      if_match;  // only when the current ETag equals, or is any ("*"); else kConflict
};

struct CopyConditions {
  std::optional<std::string> source_etag;  // only when the source has it still; else kConflict
  PutOptions target;                       // its metadata is not looked at
};

struct ListOptions {
  std::string prefix;
  std::string delimiter;     // "" for none
  std::string start_after;   // exclusive; keys or common prefixes at or before it are not returned
  std::size_t limit = 1000;  // keys and common prefixes together
};

struct Listing {
  std::vector<ObjectInfo> objects;           // in byte order of keys
  std::vector<std::string> common_prefixes;  // in byte order
  bool truncated = false;
  std::string next_start_after;  // pass as start_after for the next page
};

struct ObjectName {
  std::string bucket;
  std::string key;
};

struct PartInfo {
  int number = 0;
  std::uint64_t size = 0;
  std::string etag;
  WallTime modified;
  std::map<std::string, std::string> checksums;
};

struct MultipartOptions {
  Metadata metadata;
  // What the client asked for; nothing: CRC32 over the whole object.
  std::optional<ChecksumAlgorithm> algorithm;
  bool full_object = false;  // one CRC over the whole object instead of a hash of the parts' hashes
};

// What the client says about the whole, checked before anything is joined.
struct CompleteOptions {
  PutOptions target;  // its conditions; the metadata is that of the upload
  std::optional<std::uint64_t> size;
  std::map<std::string, std::string> checksums;  // "crc32" → base64, with or without "-<parts>"
};

struct MultipartInfo {
  std::string upload_id;
  std::string key;
  WallTime initiated;
  MultipartOptions options;
};

struct UploadName {
  std::string bucket;
  std::string key;
  std::string upload_id;
};

struct ListMultipartsOptions {
  std::string prefix;
  std::string key_marker;  // uploads of this key and before are left out, except …
  std::string
      upload_id_marker;  // … uploads of key_marker with a greater id, when this is not empty
  std::size_t limit = 1000;
};

struct MultipartListing {
  std::vector<MultipartInfo> uploads;  // by key, then upload id
  bool truncated = false;
};

struct ObjectStoreOptions {
  store::Paths paths;
  std::string region = "us-west-2";
};

class ObjectStore {
 public:
  // Opens the index, finishes or forgets what a crash interrupted, starts the thread that removes
  // files nobody needs.
  static Result<std::unique_ptr<ObjectStore>> Open(ObjectStoreOptions options, env::Clock& clock,
                                                   env::Random& random);
  virtual ~ObjectStore() = default;

  // region "": that of the store. kAlreadyExists when it exists.
  virtual Status CreateBucket(std::string_view bucket, std::string_view region = "") = 0;
  // kConflict when it holds objects; uploads in progress are dropped with it.
  virtual Status DeleteBucket(std::string_view bucket) = 0;
  virtual Result<BucketInfo> GetBucket(std::string_view bucket) = 0;
  virtual Result<std::vector<BucketInfo>> ListBuckets() = 0;

  // The first algorithm is the one that is kept with the object.
  virtual Result<std::unique_ptr<Upload>> BeginUpload(std::vector<ChecksumAlgorithm> algorithms = {
                                                          ChecksumAlgorithm::kCrc32}) = 0;
  // Publishes the upload under the key, replacing what was there.
  virtual Result<ObjectInfo> Put(std::string_view bucket, std::string_view key,
                                 std::unique_ptr<Upload> upload, const PutOptions& options) = 0;
  virtual Result<ObjectInfo> Head(std::string_view bucket, std::string_view key) = 0;
  // The object and a descriptor of its file, which stays readable whatever happens to the key
  // meanwhile.
  struct Opened {
    ObjectInfo info;
    env::UniqueFd fd;
  };
  virtual Result<Opened> Get(std::string_view bucket, std::string_view key) = 0;
  virtual Result<Listing> List(std::string_view bucket, const ListOptions& options) = 0;
  // A missing key counts as deleted, unless an ETag is asked for: then kNotFound, or kConflict when
  // it differs.
  virtual Status Delete(std::string_view bucket, std::string_view key,
                        const std::optional<std::string>& if_match = std::nullopt) = 0;
  // One commit for all keys.
  virtual Status DeleteMany(std::string_view bucket, const std::vector<std::string>& keys) = 0;
  // A new object with the same bytes (a hard link, no copy); metadata of the source unless
  // replaced.
  virtual Result<ObjectInfo> Copy(const ObjectName& from, const ObjectName& to,
                                  const std::optional<Metadata>& metadata,
                                  const CopyConditions& conditions = {}) = 0;

  virtual Result<std::string> CreateMultipart(std::string_view bucket, std::string_view key,
                                              const MultipartOptions& options) = 0;
  virtual Result<MultipartInfo> GetMultipart(const UploadName& upload) = 0;
  virtual Result<PartInfo> PutPart(const UploadName& upload, int number,
                                   std::unique_ptr<Upload> data) = 0;
  // parts: number and ETag, perhaps checksums, in ascending order. Repeating a completed call gives
  // the same object. kInvalidArgument with the message's first word "InvalidPart",
  // "InvalidPartOrder" or "EntityTooSmall".
  virtual Result<ObjectInfo> CompleteMultipart(const UploadName& upload,
                                               const std::vector<PartInfo>& parts,
                                               const CompleteOptions& options = {}) = 0;
  virtual Status AbortMultipart(const UploadName& upload) = 0;
  virtual Result<std::vector<PartInfo>> ListParts(const UploadName& upload) = 0;
  virtual Result<MultipartListing> ListMultiparts(std::string_view bucket,
                                                  const ListMultipartsOptions& options) = 0;

  // Path of a blob, for hard links into a job's channel. Missing when the object was replaced or
  // deleted meanwhile: look the key up again. REQUIRES: the id came from an ObjectInfo of this
  // store.
  virtual env::Path BlobPath(const ObjectInfo& info) const = 0;
};

}  // namespace sabia::objects
