#include "env/background_thread.h"

#include <utility>

namespace sabia::env {

BackgroundThread::BackgroundThread(Options options, Round round)
    : options_(options), round_(std::move(round)), thread_([this] { Run(); }) {}

BackgroundThread::~BackgroundThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundThread::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

bool BackgroundThread::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool BackgroundThread::Await(std::unique_lock<std::mutex>& lock, std::optional<Millis> delay) {
  if (delay == Millis(0)) return !stopping_;
  const auto called = [this] { return woken_ || stopping_; };
  if (delay) {
    changed_.wait_for(lock, *delay, called);
  } else {
    changed_.wait(lock, called);
  }
  if (woken_ && options_.linger > Millis(0)) {
    changed_.wait_for(lock, options_.linger, [this] { return stopping_; });
  }
  return !stopping_;
}

void BackgroundThread::Run() {
  std::optional<Millis> delay = options_.first_after;
  std::unique_lock lock(mutex_);
  while (Await(lock, delay)) {
    const bool woken = std::exchange(woken_, false);
    lock.unlock();
    delay = round_(woken);
    lock.lock();
  }
}

}  // namespace sabia::env
