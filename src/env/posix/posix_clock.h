// The machine's clocks.
#pragma once

#include "env/clock.h"

namespace sabia::env {

class PosixClock final : public Clock {
 public:
  WallTime Wall() override;
  MonoTime Mono() override;
};

}  // namespace sabia::env
