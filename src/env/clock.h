// The only way to read the time. Production: env/posix/posix_clock.h; tests and the simulator bring
// their own.
#pragma once

#include "base/time.h"

namespace sabia::env {

// Threading: implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Wall() = 0;
  virtual MonoTime Mono() = 0;
};

}  // namespace sabia::env
