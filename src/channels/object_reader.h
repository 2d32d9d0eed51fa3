// Where the bytes of a channel's objects come from, whatever holds them: the narrow waist between
// the modes that present data (Pipe, FastFile) and the places that keep it.
//
// A listing (listing.h) names the objects; a reader opens ranges of them as streams. Objects of the
// embedded store are files of this machine and say so, for a file can be moved into a pipe without
// copying; objects of an S3 endpoint arrive over HTTP, fetched ahead as their reader sees fit.
//
// A stream is of one version of the object: the one that was listed, or whichever is there when the
// object has no etag (then its size is not known either). It never ends early without an error.
//
// Threading: readers are thread-safe; a stream belongs to one thread at a time. Calls block.
// Errors: kNotFound (the object is gone), kConflict (it is another version now, or another size),
// kDenied, kInvalidArgument (a range beyond the end), kIo, kUnavailable (the endpoint was away for
// longer than the reader's patience), kTimeout (cancelled). Messages name the object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "channels/listing.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // nothing: to the end
};

class ObjectStream {
 public:
  virtual ~ObjectStream() = default;

  // Bytes of the range, known from the beginning.
  virtual std::uint64_t size() const = 0;

  // The next bytes, at most into.size() of them, at least one; 0 only at the end of the range.
  // REQUIRES: into is not empty.
  virtual Result<std::size_t> Read(std::span<char> into) = 0;

  // The range as a part of a regular file that nobody writes to, for splice and pread; nothing when
  // it is not one. The descriptor is the stream's. Asking does not move the stream.
  struct FilePart {
    int fd = -1;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  virtual std::optional<FilePart> File() const { return std::nullopt; }
};

class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  virtual Result<std::unique_ptr<ObjectStream>> Open(const ListedObject& object,
                                                     ByteRange range = {}) = 0;

  // From any thread: calls in progress and later ones, of the streams too, fail with kTimeout
  // within a second. For good.
  virtual void Cancel() {}
};

// Objects of the embedded store: blob files, read in place. REQUIRES of objects: local().
std::unique_ptr<ObjectReader> MakeLocalObjectReader();

// Local objects by one reader, the others by the other.
std::unique_ptr<ObjectReader> MakeSplitReader(std::unique_ptr<ObjectReader> local,
                                              std::unique_ptr<ObjectReader> remote);

// A stream of a range of a file that holds the object, for readers. kConflict when it has not the
// listed size; an object without an etag is taken as it is.
Result<std::unique_ptr<ObjectStream>> MakeFileStream(env::UniqueFd file, const ListedObject& object,
                                                     ByteRange range);

// How messages name an object: "s3://bucket/key" where both are known, else its path.
std::string NameOf(const ListedObject& object);

}  // namespace sabia::channels
