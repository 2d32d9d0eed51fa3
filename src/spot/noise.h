// Random numbers that are a function of (seed, stream, index) and nothing else, so that whoever
// asks for the millionth need not draw the others. Not for secrets. Pure; any thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace sabia::spot {

// SplitMix64's finaliser: every bit of the input changes half of the output's.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t HashText(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = Mix(seed);
  for (const char c : text) hash = Mix(hash ^ static_cast<unsigned char>(c));
  return Mix(hash ^ text.size());
}

class Noise {
 public:
  explicit constexpr Noise(std::uint64_t seed) : seed_(Mix(seed)) {}

  // Uniform in [0, 1).
  constexpr double Uniform(std::uint64_t stream, std::uint64_t index) const {
    const std::uint64_t bits = Mix(Mix(seed_ ^ Mix(stream)) + index);
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
  }
  double Exponential(std::uint64_t stream, std::uint64_t index, double mean) const {
    return -mean * std::log1p(-Uniform(stream, index));
  }

 private:
  std::uint64_t seed_;
};

}  // namespace sabia::spot
