// Objects of S3 endpoints into files, by pieces over many connections at once.
//
// An object longer than a piece is fetched in ranges of one version (If-Match), out of order and by
// as many connections as are free; a shorter one whole. Content is compared with what the endpoint
// announces (wire/object_checksum.h); when it differs, the object is fetched again, twice at most.
// With a boot id, pieces that arrived before the process was killed are not fetched again
// (piece_map.h).
//
// Threading: blocks; uses threads of its own, each with a client of its own. Errors: of the first
// object that failed, with its name: kNotFound, kConflict (another version by now), kDenied,
// kCorrupt, kUnavailable; kTimeout when `cancelled` turned true.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "channels/listing.h"
#include "channels/local_view.h"
#include "wire/s3_client.h"

namespace sabia::channels {

using MakeClient = std::function<Result<std::unique_ptr<wire::S3Client>>()>;

struct FetchOptions {
  std::size_t connections = 16;
  std::uint64_t piece_size = 8 << 20;
  std::string boot;  // of this run of the machine; "": interrupted downloads start over
};

struct FetchJob {
  const ListedObject* object = nullptr;
  env::Path file;  // to fill; its directory exists
};

// Called on the threads of the fetch.
struct FetchHooks {
  // Before anything is done for the object; false: leave it out. May be empty.
  std::function<Result<bool>(const FetchJob& job)> begin;
  // The file has all its bytes, and they are right.
  std::function<Status(const FetchJob& job, int fd)> done;
};

Status FetchObjects(std::span<const FetchJob> jobs, const FetchOptions& options,
                    const MakeClient& make_client, const FetchHooks& hooks,
                    const Cancelled& cancelled);

}  // namespace sabia::channels
