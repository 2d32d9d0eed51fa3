#include "channels/epoch_order.h"

#include <numeric>
#include <utility>

#include "base/check.h"
#include "env/random.h"

namespace sabia::channels {
EpochOrder::EpochOrder(Share share, std::uint64_t count, std::uint64_t seed, std::uint64_t epoch)
    : share_(share) {
  CHECK(count <= UINT32_MAX);
  std::vector<std::uint32_t>& order = shuffled_.emplace(count);
  std::iota(order.begin(), order.end(), 0u);
  env::SeededRandom random(env::SeededRandom(seed).Next() + epoch);
  for (std::uint64_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[random.Below(left)]);
  }
}

std::optional<std::uint64_t> EpochOrder::At(std::uint64_t place) const {
  const std::uint64_t number = place * share_.hosts + share_.host;
  if (!shuffled_) return number;
  if (number >= shuffled_->size()) return std::nullopt;
  return (*shuffled_)[number];
}

}  // namespace sabia::channels
