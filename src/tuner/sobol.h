// A scrambled Sobol sequence: points that fill the unit cube evenly, any of them at once.
//
// Owen's nested scrambling by hashing (Laine and Karras 2011, Burley 2020), so that seeds give
// independent sequences with the same evenness. Direction numbers: Joe and Kuo's new-joe-kuo-6
// (2008). Coordinates beyond kSobolDimensions are independent uniform draws. Immutable,
// thread-safe.
#pragma once

#include <cstdint>

#include "tuner/space.h"

namespace sabia::tuner {

inline constexpr std::size_t kSobolDimensions = 32;

class Sobol {
 public:
  Sobol(std::uint64_t seed, std::size_t dimensions) : seed_(seed), dimensions_(dimensions) {}
  // The point of an index; the first 2^k indices hold one point in each dyadic box of volume 2^-k.
  Point At(std::uint32_t index) const;

 private:
  std::uint64_t seed_;
  std::size_t dimensions_;
};

// The coordinate of the sequence without scrambling, as 32 binary digits after the point.
// REQUIRES dimension < kSobolDimensions.
std::uint32_t SobolDigits(std::uint32_t index, std::size_t dimension);

}  // namespace sabia::tuner
