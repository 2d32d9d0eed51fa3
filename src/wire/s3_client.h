// An S3 client for agents and controllers: SigV4 over libcurl, retries with back-off and jitter.
//
// Works against our own server and any other S3 endpoint (path or virtual-host style). Retries
// connection failures, 5xx, SlowDown and throttling for as long as the caller's patience lasts, so
// that an agent survives a restart of the daemon, on another port too when it can locate it.
//
// Threading: thread-compatible; one connection is kept alive per client. Errors: kNotFound
// (NoSuchKey, NoSuchBucket), kDenied, kInvalidArgument, kConflict (the object is another one by
// now), kCorrupt (checksum or length differ), kUnavailable or kTimeout when patience ran out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "env/clock.h"
#include "env/files.h"
#include "wire/key_provider.h"
#include "wire/object_checksum.h"
#include "wire/retry_budget.h"
#include "wire/s3_uri.h"

namespace sabia::wire {

struct S3Endpoint {
  std::string url;  // "http://127.0.0.1:9000"
  std::string region;
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // "" for long-lived keys

  // Where set, instead of the three above.
  std::shared_ptr<KeyProvider> keys;
  std::shared_ptr<RetryBudget> budget;
  bool bucket_in_host = false;  // virtual-host style: "http://bucket.host/key"
  std::string ca_bundle;        // path of trusted certificates; "": the system's
  // Where the service is now, kUnavailable while it is away; asked before each attempt. Empty: at
  // url.
  std::function<Result<std::string>()> locate;
};

struct S3Object {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;
  WallTime modified;
};

struct S3ClientOptions {
  Millis patience{300'000};  // total time over all retries of one call
  Millis connect_timeout{5'000};
  Millis stall_timeout{60'000};                  // no byte moved for so long
  std::string ca_bundle;                         // path of trusted certificates; "": the system's
  std::uint64_t multipart_threshold = 64 << 20;  // longer files go in parts
  std::uint64_t part_size = 16 << 20;  // at least 5 MiB; grows with files above 10,000 parts
  std::size_t upload_connections = 1;  // at most so many parts at a time
};

// One page of a listing, in key order.
struct S3Page {
  std::vector<S3Object> objects;
  std::string next;  // token of the next page; "" at the end
};
struct S3PageQuery {
  std::string bucket;
  std::string prefix;
  std::string token;        // of the page before; "" for the first page
  std::string start_after;  // without a token: only keys behind this one
  std::size_t limit = 1000;
};

// What is known of an object before it is read.
struct S3Details {
  S3Object object;
  ObjectChecksum checksum;
};

// Bytes [offset, offset + length) of one version of an object. length > 0.
struct S3Range {
  S3Location from;
  std::string etag;  // the answer must be of this version; "": of any
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool whole = false;  // it is all of the object: its checksum can be verified
};
using S3Sink = std::function<Status(std::string_view)>;

class S3Client {
 public:
  static Result<std::unique_ptr<S3Client>> Create(S3Endpoint endpoint, S3ClientOptions options,
                                                  env::Clock& clock);
  virtual ~S3Client() = default;

  // Every object below the prefix, in key order, over all pages.
  virtual Result<std::vector<S3Object>> List(const std::string& bucket,
                                             const std::string& prefix) = 0;
  virtual Result<S3Page> ListPage(const S3PageQuery& query) = 0;
  // Size, ETag and time of an object.
  virtual Result<S3Object> Head(const S3Location& what) = 0;
  // The same with what the endpoint announces of its content.
  virtual Result<S3Details> Describe(const S3Location& what) {
    return Head(what).map([](S3Object object) { return S3Details{std::move(object), {}}; });
  }
  virtual Result<std::string> Get(const S3Location& from, std::size_t limit) = 0;
  // The bytes of the range in order, each once, whatever breaks meanwhile. S3 has no checksums of
  // ranges: only that of a whole object is verified, after the last byte.
  virtual Status Read(const S3Range& range, const S3Sink& sink) = 0;
  // To a new file beside the target, length and checksum verified, then renamed over it.
  virtual Status Download(const S3Location& from, const env::Path& target) = 0;
  virtual Status Put(const S3Location& to, std::string_view content) = 0;
  // Streams the file; long ones in parts, all visible at once or not at all.
  virtual Status Upload(const env::Path& source, const S3Target& to) = 0;
  virtual Status Delete(const S3Location& what) = 0;
};

}  // namespace sabia::wire
