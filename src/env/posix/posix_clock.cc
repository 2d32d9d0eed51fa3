#include "env/posix/posix_clock.h"

#include <chrono>

namespace sabia::env {

WallTime PosixClock::Wall() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

MonoTime PosixClock::Mono() {
  return MonoTime(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace sabia::env
