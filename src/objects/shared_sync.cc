#include "objects/shared_sync.h"

#include <unistd.h>

#include <cerrno>

#include "env/blocking.h"

namespace sabia::objects {

Status SharedSync::Sync() {
  const env::BlockingScope blocking;
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = ++requested_;
  while (completed_ < ticket && !failure_) {
    if (running_) {
      ended_.wait(lock);
      continue;
    }
    running_ = true;
    const std::uint64_t covered = requested_;
    lock.unlock();
    const int result = ::fsync(directory_.get());
    const int error = errno;
    lock.lock();
    running_ = false;
    completed_ = covered;
    if (result != 0) failure_ = FailErrno(error, "failed to sync the directory of uploads").value();
    ended_.notify_all();
  }
  if (failure_) return tl::unexpected<Error>(*failure_);
  return {};
}

}  // namespace sabia::objects
