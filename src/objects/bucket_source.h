// What controllers and rules read of a bucket, wherever it lives: in the embedded store, or at an
// S3 endpoint outside (wire/external_buckets.h).
//
// Threading: a BucketSource is thread-compatible; calls block. Errors: as the ObjectStore, where
// kNotFound says "bucket …" or "key …" first; kUnavailable and kTimeout when an endpoint outside
// does not answer, kDenied when it refuses.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "objects/object_store.h"
#include "wire/external_buckets.h"

namespace sabia::objects {

class BucketSource {
 public:
  virtual ~BucketSource() = default;
  virtual Status CheckBucket() = 0;
  // That objects may be encrypted under this key of KMS; what is outside cannot be asked.
  virtual Status CheckKey(std::string_view kms_key) = 0;
  // prefix, start_after and limit of the options count.
  virtual Result<Listing> List(const ListOptions& options) = 0;
  virtual Result<ObjectInfo> Head(std::string_view key) = 0;
  // The whole object; kInvalidArgument when it is longer.
  virtual Result<std::string> Read(std::string_view key, std::size_t limit) = 0;
};

std::unique_ptr<BucketSource> MakeStoreSource(ObjectStore& store, std::string bucket);

struct BucketsOptions {
  env::Path file;  // external-s3.conf; need not exist
  wire::KeyEnvironment environment;
  Millis patience{20'000};  // of one call to an endpoint outside
};

// Decides where each bucket lives: its own section of the file, else the embedded store, else
// [default]. The file is looked at again at most once a second; one that cannot be used any more
// leaves the last good one in force, and says so in the log.
//
// Threading: thread-safe.
class Buckets {
 public:
  // kInvalidArgument, naming file and setting.
  static Result<std::unique_ptr<Buckets>> Open(ObjectStore& store, BucketsOptions options,
                                               env::Files& files, env::Clock& clock);

  Result<std::unique_ptr<BucketSource>> Source(const std::string& bucket);
  // How to reach it; nothing when it lives in the embedded store, or nowhere.
  Result<std::optional<wire::ExternalEndpoint>> External(const std::string& bucket);

 private:
  using Snapshot = std::shared_ptr<const wire::ExternalBuckets>;
  Buckets(ObjectStore& store, BucketsOptions options, env::Files& files, env::Clock& clock);
  Status Reload();
  Snapshot Current();
  Result<const wire::ExternalBuckets::Entry*> Find(const wire::ExternalBuckets& external,
                                                   const std::string& bucket);

  ObjectStore& store_;
  const BucketsOptions options_;
  env::Files& files_;
  env::Clock& clock_;
  std::mutex mutex_;
  MonoTime looked_;
  std::string text_;  // of the file, as last read
  Snapshot external_;
};

}  // namespace sabia::objects
