#include "store/checkpointer.h"

#include <sqlite3.h>

#include <utility>

#include "base/log.h"

namespace sabia::store {

Checkpointer::Checkpointer(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {
  thread_ = std::thread([this] { Loop(); });
}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  grown_.notify_one();
  thread_.join();
}

void Checkpointer::Notify(int log_pages) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (log_pages < log_pages_) next_ = kSoftPages;  // the log started again from its beginning
    log_pages_ = log_pages;
    wake = log_pages_ >= next_;
  }
  if (wake) grown_.notify_one();
}

void Checkpointer::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    grown_.wait(lock, [this] { return stopping_ || log_pages_ >= next_; });
    if (stopping_) return;
    lock.unlock();
    const int pages = Checkpoint();
    lock.lock();
    next_ = pages + kSoftPages;
  }
}

int Checkpointer::Checkpoint() {
  int log = 0;
  int copied = 0;
  int code = sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                       &log, &copied);
  if (code == SQLITE_OK && log > kHardPages) {
    code = sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr, SQLITE_CHECKPOINT_RESTART,
                                     &log, &copied);
  }
  // Busy: a reader still needs the old pages, or the writer would not pause in time. The next round
  // tries again.
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    LogWarn("failed to copy the write-ahead log back: {}", sqlite3_errmsg(connection_->handle()));
  }
  return log < 0 ? 0 : log;
}

}  // namespace sabia::store
