// Bytes on their way whose number must be known before the first of them is passed on: in memory up
// to a MiB, behind that in a file without a name, which the kernel forgets with the descriptor.
//
// Threading: thread-compatible. Errors: kResourceExhausted (disk full, or longer than the limit),
// kIo.
#pragma once

#include <string>
#include <string_view>

#include "env/files.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

class Spool {
 public:
  // directory: where the file lies, if there is one.
  explicit Spool(env::Path directory) : directory_(std::move(directory)) {}

  Status Write(std::string_view data);
  std::uint64_t size() const { return size_; }

  // One of them holds everything that was written.
  std::string_view memory() const { return memory_; }
  int file() const { return file_.get(); }  // -1: all is in memory

 private:
  const env::Path directory_;
  std::string memory_;
  env::UniqueFd file_;
  std::uint64_t size_ = 0;
};

}  // namespace sabia::channels
