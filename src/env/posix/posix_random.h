// Random bytes from the kernel, good enough for keys.
#pragma once

#include "env/random.h"

namespace sabia::env {

class PosixRandom final : public Random {
 public:
  void Fill(std::span<unsigned char> out) override;
};

}  // namespace sabia::env
