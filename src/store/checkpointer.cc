#include "store/checkpointer.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace sabia::store {
namespace {

constexpr int kPatienceMs = 20;

// Busy: a reader still needs the old pages, or the other thread is copying. A later round tries
// again.
void WarnUnlessBusy(sqlite3* db, int code) {
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return;
  LogWarn("failed to copy the write-ahead log back: {}", sqlite3_errmsg(db));
}

}  // namespace

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

void Checkpointer::OnCommit(sqlite3* writer, int log_pages) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (log_pages < log_pages_) {  // the log started again from its beginning
      next_ = kSoftPages;
      hard_next_ = kHardPages;
    }
    log_pages_ = log_pages;
    wake = log_pages_ >= next_;
  }
  if (wake) grown_.notify_one();
  if (log_pages >= hard_next_) CopyAll(writer, log_pages);
}

void Checkpointer::CopyAll(sqlite3* writer, int log_pages) {
  // Readers are short, but a slow one must not hold up all commits: then the log grows some more.
  sqlite3_busy_timeout(writer, kPatienceMs);
  const int code =
      sqlite3_wal_checkpoint_v2(writer, nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  sqlite3_busy_timeout(writer, Connection::kBusyTimeoutMs);
  hard_next_ = log_pages + kSoftPages;
  WarnUnlessBusy(writer, code);
}

void Checkpointer::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    grown_.wait(lock, [this] { return stopping_ || log_pages_ >= next_; });
    if (stopping_) return;
    lock.unlock();
    int log = 0;
    const int code = sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, &log, nullptr);
    WarnUnlessBusy(connection_->handle(), code);
    lock.lock();
    next_ = std::max(log, log_pages_) + kSoftPages;
  }
}

}  // namespace sabia::store
