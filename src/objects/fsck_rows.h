// The rows of objects.db as fsck walks over them: each with what it says, or why it cannot be read.
//
// Threading: as the Connection. Errors: those of Connection; a row that cannot be decoded is
// delivered with its fault.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "objects/fsck.h"
#include "store/connection.h"

namespace sabia::objects {

struct FsckRow {
  RowName name;
  ObjectInfo info;     // of a part: size, etag, checksums, blob
  bool stray = false;  // its bucket or upload does not exist
  std::string fault;   // why the columns cannot be read; "" when they can
};

// What rows refer to.
struct FsckParents {
  struct Upload {
    std::int64_t bucket_id = 0;
    std::string key;
    std::string token;
    std::string envelope;
  };
  std::map<std::int64_t, std::string> buckets;
  std::map<std::int64_t, Upload> uploads;
  std::set<std::string, std::less<>> joints;  // joint files of the uploads
};
Result<FsckParents> ReadParents(store::Connection& connection);

// Bytes of small objects whose files may not be on the disk yet, by blob: the next start writes
// those files again.
Result<std::map<std::string, std::string, std::less<>>> ReadFreshBytes(
    store::Connection& connection);

using FsckRowVisitor = std::function<Status(FsckRow)>;
// Every row of the table in the order of its key.
Status VisitRows(store::Connection& connection, const FsckParents& parents, RowName::Table table,
                 const FsckRowVisitor& visit);

bool IsBlobId(std::string_view text);

}  // namespace sabia::objects
