// How much all clients of one endpoint may retry together, so that an endpoint in trouble is not
// also flooded by its clients' second tries.
//
// A bucket of tokens: each retry takes one, and time gives them back. An empty bucket does not end
// a call, it makes the call wait for its token: patience stays the caller's.
//
// Threading: thread-safe.
#pragma once

#include <mutex>

#include "base/time.h"

namespace sabia::wire {

class RetryBudget {
 public:
  struct Options {
    double burst = 64;       // retries at once
    double per_second = 16;  // afterwards
  };
  RetryBudget() : RetryBudget(Options{}) {}
  explicit RetryBudget(Options options) : options_(options), tokens_(options.burst) {}

  // Takes a token; answers how long to wait until it is there.
  Millis Take(MonoTime now);

 private:
  const Options options_;
  std::mutex mutex_;
  double tokens_;
  MonoTime last_;
};

}  // namespace sabia::wire
