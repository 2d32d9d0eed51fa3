// A thread that does a round of work when it is woken or when it is time, until it is destroyed.
//
// Threading: Wake() and stopping() from any thread, the round's own among them. Wake-ups that come
// during a round start one more. The wall clock plays no part.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/time.h"

namespace sabia::env {

class BackgroundThread {
 public:
  // woken: somebody asked for the round. Gives how long to wait for the next one when nobody wakes
  // it: 0 starts it at once, nothing leaves it to a wake-up.
  using Round = std::function<std::optional<Millis>(bool woken)>;

  struct Options {
    std::optional<Millis> first_after;  // of the first round
    Millis linger{0};  // a wake-up that ends a wait lets so long pass for others to join it
  };

  BackgroundThread(Options options, Round round);
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  ~BackgroundThread();  // finishes the round at hand

  void Wake();
  // For long rounds: this is being destroyed.
  bool stopping() const;

 private:
  void Run();
  // Whether there is to be another round.
  bool Await(std::unique_lock<std::mutex>& lock, std::optional<Millis> delay);

  const Options options_;
  const Round round_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;     // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;     // last: uses all of the above
};

}  // namespace sabia::env
