// The files of a channel and their bytes.
//
// Names that start with "." or "_" are skipped, folders are followed to depth 3 (the channel's own
// is the first), and the order is that of the paths, so that the same channel always gives the same
// rows. Blocking; thread-compatible.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sabia::algorithms {

struct DataFile {
  std::filesystem::path path;
  std::string name;  // relative to the channel, for messages
  std::size_t size = 0;
};

// kInvalidArgument when folders are nested deeper; an absent directory has no files.
Result<std::vector<DataFile>> ListDataFiles(const std::filesystem::path& channel);

// Pairs of files of equal name and size in two channels: most likely the same rows.
std::vector<std::string> SuspectedDuplicates(const std::vector<DataFile>& train,
                                             const std::vector<DataFile>& validation);

// Read-only bytes of a file, mapped; of a FIFO, read to its end.
class FileBytes {
 public:
  static Result<FileBytes> Open(const std::filesystem::path& path);
  FileBytes(FileBytes&& other) noexcept
      : map_(std::exchange(other.map_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        read_(std::move(other.read_)) {}
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();

  std::string_view view() const {
    return map_ ? std::string_view(static_cast<const char*>(map_), size_) : std::string_view(read_);
  }

 private:
  FileBytes() = default;

  void* map_ = nullptr;
  std::size_t size_ = 0;
  std::string read_;
};

}  // namespace sabia::algorithms
