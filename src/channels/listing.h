// The listing of a channel: which objects land at which relative path, decided by the daemon,
// checked here again.
//
// One JSON object per line: {"path","size","bucket","key","etag"}, and "blob" for an object of the
// embedded store: the absolute path of its file; without it the object is read from the endpoint. A
// path that could leave the channel's directory, or that names both a file and a directory, refuses
// the whole listing.
//
// Pure; any thread. Errors: kInvalidArgument with the line's number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/files.h"

namespace sabia::channels {

struct ListedObject {
  std::string path;  // relative, normalised: "a/b.csv"
  std::uint64_t size = 0;
  std::string blob;  // absolute; "" for remote objects
  std::string bucket;
  std::string key;
  std::string etag;
  WallTime modified;  // 1970 when it is not known

  bool local() const { return !blob.empty(); }
};

// Whether the path is relative and normalised: no empty, "." or ".." component, no NUL, components
// of at most 255 bytes, at most 4096 in all.
bool IsSafeRelativePath(std::string_view path);

Result<std::vector<ListedObject>> ParseListing(std::string_view text);

// One line, for callers that make no path of `path`: it is not looked at.
Result<ListedObject> ParseListedObject(std::string_view line);

}  // namespace sabia::channels
