// One fsync of a directory for many threads that need it at the same time.
//
// Sync() returns when an fsync that began after the call has ended. Callers that arrive while one
// runs share the next. A failure is sticky: the kernel may have dropped what it could not write, so
// nothing can be promised any more until the directory is opened again.
//
// Threading: thread-safe. Errors: kIo, kResourceExhausted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "env/posix/posix_files.h"

namespace sabia::objects {

class SharedSync {
 public:
  explicit SharedSync(env::UniqueFd directory) : directory_(std::move(directory)) {}
  Status Sync();

 private:
  const env::UniqueFd directory_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t requested_ = 0;  // tickets handed out
  std::uint64_t completed_ = 0;  // tickets whose fsync ended
  bool running_ = false;
  std::optional<Error> failure_;
};

}  // namespace sabia::objects
