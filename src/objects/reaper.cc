#include "objects/reaper.h"

#include "base/log.h"
#include "objects/object_index.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr Millis kLinger{100};

}  // namespace

Reaper::Reaper(store::Database& database, BlobDirectory& blobs)
    : database_(database), blobs_(blobs), thread_([this] { Run(); }) {}

Reaper::~Reaper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Reaper::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

void Reaper::Run() {
  std::unique_lock lock(mutex_);
  bool behind = false;
  while (true) {
    changed_.wait(lock, [this] { return woken_ || stopping_; });
    // A full batch was no trickle: the next one starts at once.
    if (!behind) changed_.wait_for(lock, kLinger, [this] { return stopping_; });
    if (stopping_) return;
    woken_ = false;
    lock.unlock();
    const Result<bool> more = RemoveSome();
    if (!more) LogWarn("failed to remove old objects: {}", more.error().message);
    lock.lock();
    behind = more && *more;
    if (behind) woken_ = true;
  }
}

Result<bool> Reaper::RemoveSome() {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(database_.Read([&](store::Connection& connection) -> Status {
    ASSIGN_OR_RETURN(ids, index::ReadGarbage(connection, kBatch));
    return {};
  }));
  if (ids.empty()) return false;
  RETURN_IF_ERROR(blobs_.Remove(ids));
  RETURN_IF_ERROR(database_.Write(
      [&](store::Connection& connection) { return index::ForgetGarbage(connection, ids); }));
  return ids.size() == kBatch;
}

}  // namespace sabia::objects
