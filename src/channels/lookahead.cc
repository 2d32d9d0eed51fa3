#include "channels/lookahead.h"

#include <utility>

namespace sabia::channels {

Lookahead::Lookahead(Fetch fetch, std::size_t threads) : fetch_(std::move(fetch)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

Lookahead::~Lookahead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Lookahead::Ready() const {
  if (threads_.empty()) return true;
  const std::lock_guard lock(mutex_);
  return done_.contains(taken_);
}

Result<std::optional<PipeItem>> Lookahead::Next() {
  if (threads_.empty()) return fetch_(taken_++);
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return done_.contains(taken_); });
  auto node = done_.extract(taken_++);
  if (node.mapped() && *node.mapped()) bytes_ -= (*node.mapped())->stream_bytes;
  lock.unlock();
  room_.notify_all();
  return std::move(node.mapped());
}

void Lookahead::Run() {
  while (true) {
    std::uint64_t place = 0;
    {
      std::unique_lock lock(mutex_);
      // The next one in turn is always begun, however much the others hold.
      room_.wait(lock, [&] {
        return stop_ || begun_ == taken_ || (begun_ - taken_ < kAheadItems && bytes_ < kAheadBytes);
      });
      if (stop_) return;
      place = begun_++;
    }
    auto item = fetch_(place);
    {
      const std::lock_guard lock(mutex_);
      if (item && *item) {
        bytes_ += (*item)->stream_bytes;
      } else {
        stop_ = true;  // the end, or a failure: what lies behind it is not asked for
      }
      done_.emplace(place, std::move(item));
    }
    arrived_.notify_all();
    room_.notify_all();
  }
}

}  // namespace sabia::channels
