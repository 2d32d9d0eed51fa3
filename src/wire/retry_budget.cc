#include "wire/retry_budget.h"

#include <algorithm>
#include <cmath>

namespace sabia::wire {

Millis RetryBudget::Take(MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (now > last_) {
    const double passed = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(options_.burst, tokens_ + passed * options_.per_second);
    last_ = now;
  }
  tokens_ -= 1;
  if (tokens_ >= 0) return Millis(0);
  return Millis(static_cast<std::int64_t>(std::ceil(-tokens_ / options_.per_second * 1000)));
}

}  // namespace sabia::wire
