// What was fetched once, kept on the disk for the next epoch of the same job.
//
// One file without a name, so that nothing is left of it whoever dies; pieces of a block's size
// lie in it in the order in which they came, each with its CRC-32, which is compared whenever it is
// read: bytes that the disk has changed are fetched again. What does not fit any more is not kept;
// an epoch that is longer than the limit finds its part of it every time.
//
// Threading: thread-safe. Errors: of the directory, when it is opened. A disk that is full or fails
// later costs nothing but speed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "env/posix/posix_files.h"
#include "fastfile/part.h"

namespace sabia::fastfile {

class DiskCache {
 public:
  // limit_bytes: of the disk, in whole pieces.
  static Result<std::unique_ptr<DiskCache>> Open(const env::Path& directory,
                                                 std::uint64_t limit_bytes);

  // A part that has all its bytes. Pieces that it has not whole are left out.
  void Keep(const Part& part, std::uint64_t file_size);
  // Fills a part that has no bytes yet. False: not all of it is here; the part may hold anything.
  bool Read(Part& part, std::uint64_t file_size);

  std::uint64_t bytes_used() const;
  int fd() const { return fd_.get(); }  // for tests

 private:
  struct Piece {
    std::uint32_t slot = 0;
    std::uint32_t crc = 0;
  };
  DiskCache(env::UniqueFd fd, std::uint32_t slots) : fd_(std::move(fd)), slots_(slots) {}
  static std::uint64_t KeyOf(std::uint32_t file, std::uint64_t index) {
    return std::uint64_t{file} << 32 | index;
  }
  void KeepPiece(std::uint64_t key, std::string_view data);
  bool ReadPiece(std::uint64_t key, std::span<char> into);

  const env::UniqueFd fd_;
  const std::uint32_t slots_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Piece> pieces_;
  std::uint32_t next_ = 0;  // the first free slot
};

}  // namespace sabia::fastfile
