// Buckets and objects: the engine behind the S3 API, and the direct view that controllers have of
// it.
//
// One immutable file per object version (mode 0444) and one index row. A PUT writes a temporary
// file, syncs it and its directory, commits the row, then moves the file to its place; the bytes of
// a small object are committed with its row instead, and its file is synced later. An acknowledged
// object survives kill -9 and power loss, and an interrupted one leaves nothing visible
// (docs/formats/objects.md). Overwriting makes a new file; readers of the old one keep it.
// Keys are bytes (UTF-8, 1..1024); they never become part of a path.
//
// Versions: while a bucket's versioning is enabled, every write makes a version with an id of its
// own and a plain delete makes a delete marker; while it is suspended, writes and deletes replace
// the null version and leave the others alone. Listing and reading see the newest version; a key
// whose newest version is a marker does not exist.
//
// Threading: thread-safe; calls block on the disk. Errors: kNotFound names what is missing through
// the message's first word "bucket", "key", "version" or "upload"; kAlreadyExists, kConflict,
// kInvalidArgument, kCorrupt, and those of Database.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "env/files.h"
#include "env/posix/posix_files.h"
#include "env/random.h"
#include "objects/types.h"
#include "store/paths.h"

namespace sabia::objects {

class KeyRing;
struct UploadSeal;

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

struct ObjectStoreOptions {
  store::Paths paths;
  std::string region = "us-west-2";
  std::string account = "000000000000";
};

class ObjectStore {
 public:
  // Opens the index, finishes or forgets what a crash interrupted, starts the thread that removes
  // files nobody needs.
  static Result<std::unique_ptr<ObjectStore>> Open(ObjectStoreOptions options, env::Clock& clock,
                                                   env::Random& random);
  virtual ~ObjectStore() = default;

  // region "": that of the store. kAlreadyExists when it exists.
  virtual Status CreateBucket(std::string_view bucket, std::string_view region = "",
                              const Settings& settings = {}) = 0;
  // kConflict when it holds objects or versions; uploads in progress are dropped with it.
  virtual Status DeleteBucket(std::string_view bucket) = 0;
  // From memory.
  virtual Result<BucketHandle> GetBucket(std::string_view bucket) = 0;
  virtual Result<std::vector<BucketHandle>> ListBuckets() = 0;  // by name
  virtual Status SetVersioning(std::string_view bucket, Versioning versioning) = 0;
  // nullopt removes the document; an absent one counts as removed.
  virtual Status PutSetting(std::string_view bucket, std::string_view name,
                            const std::optional<std::string>& document) = 0;

  // The first algorithm is the one that is kept with the object.
  virtual Result<std::unique_ptr<Upload>> BeginUpload(std::vector<ChecksumAlgorithm> algorithms = {
                                                          ChecksumAlgorithm::kCrc32}) = 0;
  // Publishes the upload under the key, replacing or preceding what was there.
  virtual Result<ObjectInfo> Put(std::string_view bucket, std::string_view key,
                                 std::unique_ptr<Upload> upload, const PutOptions& options) = 0;
  // The same, but for small uploads without waiting for the disk: `done` is called on this or
  // another thread, maybe before the return; it must be short and must not use the store.
  using PutDone = std::function<void(Result<ObjectInfo>)>;
  virtual void PutLater(std::string_view bucket, std::string_view key,
                        std::unique_ptr<Upload> upload, const PutOptions& options,
                        PutDone done) = 0;
  // A named version may turn out to be a delete marker; the current one never is.
  virtual Result<ObjectInfo> Head(std::string_view bucket, std::string_view key,
                                  const VersionChoice& version = std::nullopt) = 0;
  // The object and a descriptor of its file, which stays readable whatever happens to the key
  // meanwhile. No file for a delete marker.
  struct Opened {
    ObjectInfo info;
    env::UniqueFd fd;
  };
  virtual Result<Opened> Get(std::string_view bucket, std::string_view key,
                             const VersionChoice& version = std::nullopt) = 0;
  // The current object as Get() gives it, perhaps from memory: then without a file, and with all of
  // its bytes instead.
  struct Served {
    std::shared_ptr<const ObjectInfo> info;
    std::shared_ptr<const std::string> content;
    env::UniqueFd fd;
  };
  virtual Result<Served> Serve(std::string_view bucket, std::string_view key) = 0;
  // The delete marker that is the newest version of the key, if that is what it is.
  virtual Result<std::optional<ObjectInfo>> NewestMarker(std::string_view bucket,
                                                         std::string_view key) = 0;
  virtual Result<Listing> List(std::string_view bucket, const ListOptions& options) = 0;
  virtual Result<VersionListing> ListVersions(std::string_view bucket,
                                              const ListVersionsOptions& options) = 0;
  // What is missing counts as deleted, unless a condition asks for it.
  virtual Result<Deleted> Delete(std::string_view bucket, std::string_view key,
                                 const DeleteOptions& options = {}) = 0;
  // One commit for all; each request has its own result, in order.
  virtual Result<std::vector<Result<Deleted>>> DeleteMany(
      std::string_view bucket, const std::vector<DeleteRequest>& requests) = 0;
  // A new object with the same bytes (a hard link, no copy).
  virtual Result<ObjectInfo> Copy(const ObjectName& from, const ObjectName& to,
                                  const CopyOptions& options = {}) = 0;
  virtual Result<ObjectInfo> SetTags(const ObjectName& object, const Tags& tags) = 0;

  virtual Result<std::string> CreateMultipart(std::string_view bucket, std::string_view key,
                                              const MultipartOptions& options) = 0;
  virtual Result<MultipartInfo> GetMultipart(const UploadName& upload) = 0;
  // size: what the client announced. Only for that part, of that upload.
  virtual Result<std::unique_ptr<Upload>> BeginPart(const UploadName& upload, int number,
                                                    std::uint64_t size,
                                                    std::vector<ChecksumAlgorithm> algorithms) = 0;
  // data: of BeginPart or BeginUpload.
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

  // The keys that objects are sealed under. What was sealed is opened by ObjectContent.
  virtual KeyRing& keys() = 0;
  // An upload whose file is sealed; Put and PutPart take it as any other.
  virtual Result<std::unique_ptr<Upload>> BeginSealedUpload(
      const UploadSeal& seal, std::vector<ChecksumAlgorithm> algorithms) = 0;

  // Path of a blob, for hard links into a job's channel, where it is not sealed. Missing when the
  // object was replaced or deleted meanwhile: look the key up again. REQUIRES: the id came from an
  // ObjectInfo of this store.
  virtual env::Path BlobPath(const ObjectInfo& info) const = 0;
};

}  // namespace sabia::objects
