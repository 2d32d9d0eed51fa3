// Which threads of a pool run and which are parked.
//
// As many threads as the machine has processors take work; a further one starts only when one of
// them blocks (env/blocking.h) or is found stuck in one piece of work. So requests that never block
// cost no switch between threads, and those that do (a commit, a slow client) hold nobody up.
//
// Threading: thread-safe; a Runner belongs to one worker, and only Rescue() looks at others'.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/time.h"
#include "env/blocking.h"

namespace sabia::wire {

class RunnerSlots {
 public:
  class Runner final : public env::BlockingObserver {
   public:
    // Registers the calling worker as running.
    explicit Runner(RunnerSlots& slots);
    ~Runner();
    void BlockingBegins() override { slots_.Release(*this); }
    void BlockingEnds() override { slots_.Reclaim(*this); }

    // Around each piece of work.
    void Begin() { pieces_.fetch_add(1, std::memory_order_relaxed); }
    void End() { pieces_.fetch_add(1, std::memory_order_relaxed); }
    // Between pieces: waits while enough others run. False: nobody needed this worker for so long,
    // and it does not count as running any more.
    bool MayRun(Millis patience) { return slots_.MayRun(*this, patience); }

   private:
    friend class RunnerSlots;
    RunnerSlots& slots_;
    std::atomic<std::uint64_t> pieces_{0};  // odd: in the middle of one
    // Written under the mutex of the slots; the worker itself may read it without.
    std::atomic<bool> running_{true};
    std::uint64_t seen_ = 0;  // pieces_ at the last Rescue(); guarded by the mutex of the slots
  };

  // short_handed is called, without any lock, when a worker blocks, fewer than target run, and
  // nobody is parked: another worker would help.
  RunnerSlots(std::size_t target, std::function<void()> short_handed)
      : target_(target), short_handed_(std::move(short_handed)) {}

  // Counts runners that have been in the same piece of work since the last call as blocked. True
  // when, then, fewer run than should and nobody is parked: another worker would help.
  bool Rescue();
  // Lets everybody run, for good.
  void Close();
  std::size_t parked() const;

 private:
  void Release(Runner& runner);
  void Reclaim(Runner& runner);
  bool MayRun(Runner& runner, Millis patience);
  void WakeOne();

  const std::size_t target_;
  const std::function<void()> short_handed_;
  std::atomic<std::size_t> running_{0};  // written under mutex_
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // All below guarded by mutex_.
  std::vector<Runner*> runners_;
  std::size_t parked_ = 0;
  std::size_t woken_ = 0;  // parked workers that were told to run and have not noticed yet
  bool closed_ = false;
};

}  // namespace sabia::wire
