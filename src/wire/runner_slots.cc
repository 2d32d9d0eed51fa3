#include "wire/runner_slots.h"

#include <algorithm>

namespace sabia::wire {

RunnerSlots::Runner::Runner(RunnerSlots& slots) : slots_(slots) {
  const std::lock_guard lock(slots_.mutex_);
  slots_.runners_.push_back(this);
  slots_.running_.fetch_add(1);
}

RunnerSlots::Runner::~Runner() {
  const std::lock_guard lock(slots_.mutex_);
  std::erase(slots_.runners_, this);
  if (!running_) return;
  slots_.running_.fetch_sub(1);
  slots_.WakeOne();
}

// REQUIRES: mutex_ is held. A woken worker counts as running from here on.
void RunnerSlots::WakeOne() {
  if (running_.load() >= target_ || woken_ == parked_) return;
  ++woken_;
  running_.fetch_add(1);
  wake_.notify_one();
}

void RunnerSlots::Release(Runner& runner) {
  bool short_handed = false;
  {
    const std::lock_guard lock(mutex_);
    if (!runner.running_.exchange(false)) return;
    running_.fetch_sub(1);
    WakeOne();
    short_handed = running_.load() < target_;
  }
  if (short_handed) short_handed_();
}

void RunnerSlots::Reclaim(Runner& runner) {
  const std::lock_guard lock(mutex_);
  if (!runner.running_.exchange(true)) running_.fetch_add(1);
}

bool RunnerSlots::MayRun(Runner& runner, Millis patience) {
  if (runner.running_.load(std::memory_order_relaxed) &&
      running_.load(std::memory_order_relaxed) <= target_) {
    return true;
  }
  std::unique_lock lock(mutex_);
  if (!runner.running_.exchange(true)) running_.fetch_add(1);
  if (running_.load() <= target_ || closed_) return true;
  runner.running_ = false;
  running_.fetch_sub(1);
  ++parked_;
  const bool called = wake_.wait_for(lock, patience, [this] { return woken_ > 0 || closed_; });
  --parked_;
  if (woken_ > 0) {
    --woken_;  // counted as running by who woke us
    runner.running_ = true;
    return true;
  }
  if (!called) return false;
  runner.running_ = true;
  running_.fetch_add(1);
  return true;
}

bool RunnerSlots::Rescue() {
  const std::lock_guard lock(mutex_);
  for (Runner* runner : runners_) {
    const std::uint64_t pieces = runner->pieces_.load(std::memory_order_relaxed);
    const bool stuck = pieces % 2 == 1 && pieces == runner->seen_;
    runner->seen_ = pieces;
    if (!stuck || !runner->running_) continue;
    runner->running_ = false;
    running_.fetch_sub(1);
    WakeOne();
  }
  return running_.load() < target_;
}

void RunnerSlots::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_.notify_all();
}

std::size_t RunnerSlots::parked() const {
  const std::lock_guard lock(mutex_);
  return parked_ - woken_;
}

}  // namespace sabia::wire
