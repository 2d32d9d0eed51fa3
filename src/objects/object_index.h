// The rows of objects.db about objects and their versions, and about files that wait for removal
// (docs/formats/objects.md).
//
// The current version of a key, if that is an object, is a row of the table objects; all others,
// and every delete marker, are rows of the table versions. Functions over a connection: the caller
// decides which of them form one transaction. A blob that loses its row enters the list of garbage
// in the same transaction, so that a crash between commit and unlink forgets nothing.
//
// Threading: as the Connection. Errors: kNotFound with "key" or "version" as first word, and those
// of Connection.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "env/random.h"
#include "objects/bucket_index.h"
#include "objects/types.h"

namespace sabia::objects::index {

Result<ObjectInfo> ReadObject(store::Connection& connection, BucketId bucket, std::string_view key,
                              const VersionChoice& version = std::nullopt);
// The newest version of a key that has no current object, if it is a delete marker.
Result<std::optional<ObjectInfo>> ReadNewestMarker(store::Connection& connection, BucketId bucket,
                                                   std::string_view key);
// The version that an upload made, current or not.
Result<std::optional<ObjectInfo>> ReadByOrigin(store::Connection& connection, BucketId bucket,
                                               const UploadName& upload);

// Changes of one bucket, inside one transaction.
class ObjectWriter {
 public:
  ObjectWriter(store::Connection& connection, const BucketRow& bucket, env::Random& random)
      : connection_(connection), bucket_(bucket), random_(random) {}

  // Makes the object the current version; the conditions of options are checked in the same breath.
  // Sets its version id. origin: the upload id that made the object, or "".
  Status Write(ObjectInfo& object, const PutOptions& conditions, std::string_view origin = "");
  // now: the time of a delete marker.
  Result<Deleted> Delete(std::string_view key, const DeleteOptions& options, WallTime now);
  // The object with its new tags; unchanged when it is a delete marker.
  Result<ObjectInfo> SetTags(const ObjectName& object, const Tags& tags);

 private:
  struct Facts;
  struct Version {
    std::string id;
    std::int64_t sequence = 0;
  };
  Result<std::optional<Facts>> ReadCurrent(std::string_view key);
  Result<std::optional<Facts>> ReadOlder(std::string_view key, std::string_view version);
  Result<Version> NewVersion();
  Status Demote(std::string_view key);
  Status Promote(std::string_view key);
  Status MakeRoom(std::string_view key, const std::optional<Facts>& current);
  Status RemoveOlder(std::string_view key, const Facts& version);
  Status WriteMarker(std::string_view key, const Version& version, WallTime now);
  Result<Deleted> DeleteVersion(std::string_view key, const DeleteOptions& options);

  store::Connection& connection_;
  const BucketRow bucket_;
  env::Random& random_;
};

// What listings select first of objects and of versions, and the object it gives: without metadata,
// parts and tags.
inline constexpr std::string_view kListedColumns =
    "key, size, etag, modified, blob, checksums, class, envelope";
Result<ObjectInfo> ListedFrom(const store::Statement& row);

// Seeks over common prefixes: the cost grows with what is returned, not with what lies below a
// prefix.
Result<Listing> ListObjects(store::Connection& connection, BucketId bucket,
                            const ListOptions& options);
Result<VersionListing> ListVersions(store::Connection& connection, BucketId bucket,
                                    const ListVersionsOptions& options);

Status AddGarbage(store::Connection& connection, std::string_view blob_id);
Result<std::vector<std::string>> ReadGarbage(store::Connection& connection, std::size_t limit);
Status ForgetGarbage(store::Connection& connection, const std::vector<std::string>& blob_ids);
// Those of the candidates that an object, a version or a part refers to. Reads every row: for the
// start after a crash only.
Result<std::set<std::string>> FindWanted(store::Connection& connection,
                                         const std::set<std::string>& candidates);

}  // namespace sabia::objects::index
