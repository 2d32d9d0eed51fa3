// Objects of S3 endpoints as files of this machine, shared by all jobs: fetched once, then linked
// into every channel that lists the same version.
//
//   <directory>/objects/<64 hex>         whole, verified, synced; mode 0444
//   <directory>/partial/<64 hex>         on its way; flock'ed by the process that fetches it
//   <directory>/partial/<64 hex>.pieces  which pieces are there (piece_map.h)
//
// A name is the hash of endpoint, bucket, key, ETag and size, so a file never changes its meaning.
// A process that is killed leaves its partial files to the next one, which goes on with them.
// Files with a second link are in use; the others are removed, the longest unused first, when the
// limit asks for it. The limit may be exceeded by what running jobs use.
//
// Threading: thread-safe, also between processes. Errors: as fetch.h, and kResourceExhausted when
// the disk has not the room, found out before anything is fetched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "channels/fetch.h"
#include "env/clock.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

struct CacheOptions {
  env::Path directory;  // made when it does not exist
  std::uint64_t limit_bytes = 0;
  // Names the endpoint of a bucket: equal keys of different endpoints are different objects.
  std::function<std::string(const std::string& bucket)> endpoint;
  FetchOptions fetch;
};

struct CacheStats {
  std::uint64_t hits = 0;  // objects that were there
  std::uint64_t fetched = 0;
  std::uint64_t bytes_fetched = 0;
};

class ObjectCache {
 public:
  explicit ObjectCache(CacheOptions options) : options_(std::move(options)) {}

  struct Files {
    std::vector<ListedObject> objects;  // the same in the same order, all local: `blob` is a file
    CacheStats stats;
  };
  // Fetches what is missing, and links every file into `pins`, a directory on the same file system:
  // that is what keeps them, however long. Local objects pass unchanged.
  Result<Files> Get(const std::vector<ListedObject>& objects, const env::Path& pins,
                    const MakeClient& make_client, const Cancelled& cancelled);

  // Bytes that Get would have to fetch.
  std::uint64_t Missing(const std::vector<ListedObject>& objects) const;

  // Removes what nobody uses until at most the limit is kept.
  void Evict();

 private:
  env::Path FileOf(const ListedObject& object) const;
  env::Path PartialOf(const ListedObject& object) const;
  Status MakeDirectories(const env::Path& pins) const;
  Status CheckRoom(std::uint64_t bytes) const;
  void EvictTo(std::uint64_t bytes);

  const CacheOptions options_;
};

}  // namespace sabia::channels
