#include "env/posix/posix_random.h"

#include <sys/random.h>

#include "base/check.h"

namespace sabia::env {

void PosixRandom::Fill(std::span<unsigned char> out) {
  while (!out.empty()) {
    const ssize_t n = ::getrandom(out.data(), out.size(), 0);
    if (n < 0) continue;  // EINTR: the only error that a valid buffer can meet.
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace sabia::env
