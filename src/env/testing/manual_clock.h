// A clock that stands still until the test moves it.
#pragma once

#include <atomic>

#include "env/clock.h"

namespace sabia::env {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = FromUnixMillis(1'700'000'000'000))
      : now_(ToUnixMillis(start)) {}
  WallTime Wall() override { return FromUnixMillis(now_.load()); }
  MonoTime Mono() override { return MonoTime(Millis(now_.load())); }
  void Advance(Millis by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_;
};

}  // namespace sabia::env
