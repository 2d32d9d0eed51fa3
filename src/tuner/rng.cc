#include "tuner/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace sabia::tuner {
namespace {
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
}  // namespace

std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Rng::Rng(std::uint64_t seed, Stream stream) {
  std::uint64_t word = Mix(seed + kGolden) ^ Mix(~stream.id);
  for (std::uint64_t& part : state_) part = Mix(word += kGolden);
}

std::uint64_t Rng::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Rng::Normal() {
  // Box-Muller; 1 - u is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

std::uint64_t Rng::Below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Values above the last whole multiple of the bound would favour the small results.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = Next();
  while (value >= limit) value = Next();
  return value % bound;
}

}  // namespace sabia::tuner
