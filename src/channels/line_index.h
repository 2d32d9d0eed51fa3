// The lines of a large file by number, without holding them: 8 bytes per line that was looked for.
//
// The file is looked through only as far as it was asked for, so that the first lines of a long
// listing cost nothing to get at. The last line may lack its end.
//
// Threading: thread-safe. Errors: kIo; kInvalidArgument for a line of 16 MiB or more, or a file of
// a TiB.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env/posix/posix_files.h"

namespace sabia::channels {

inline constexpr std::uint64_t kLineBytesMax = (std::uint64_t{1} << 24) - 1;

class LineIndex {
 public:
  // The file's range [offset, offset + length) is read. The file does not change.
  struct Text {
    env::UniqueFd fd;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  explicit LineIndex(Text text) : text_(std::move(text)) {}

  // Without its end; nothing beyond the last one.
  Result<std::optional<std::string>> Line(std::uint64_t number);
  // Looks through the whole file.
  Result<std::uint64_t> Count();

 private:
  Status SeeUntil(std::uint64_t lines);  // REQUIRES: mutex_ held
  Status Add(std::uint64_t end);

  const Text text_;
  std::mutex mutex_;
  std::vector<std::uint64_t> lines_;  // start << 24 | length
  std::uint64_t seen_ = 0;            // bytes looked through
  std::uint64_t start_ = 0;           // of the line that seen_ is in
};

}  // namespace sabia::channels
