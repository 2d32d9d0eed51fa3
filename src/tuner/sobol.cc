#include "tuner/sobol.h"

#include <array>

#include "base/check.h"
#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

constexpr int kDigits = 32;
constexpr int kDegreeMax = 7;

// A primitive polynomial (its inner coefficients as bits) and the first direction numbers.
struct Direction {
  int degree = 0;
  std::uint32_t coefficients = 0;
  std::array<std::uint32_t, kDegreeMax> first = {};
};

// For the dimensions from the second on; the first is van der Corput's.
constexpr std::array<Direction, kSobolDimensions - 1> kDirections = {{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
}};

using Columns = std::array<std::uint32_t, kDigits>;

// The columns of a dimension's generator matrix by the recurrence of Bratley and Fox (1988).
Columns ColumnsOf(std::size_t dimension) {
  Columns columns;
  for (int i = 0; i < kDigits; ++i) columns[i] = std::uint32_t{1} << (kDigits - 1 - i);
  if (dimension == 0) return columns;
  const Direction& direction = kDirections[dimension - 1];
  const int degree = direction.degree;
  for (int i = 0; i < degree; ++i) columns[i] = direction.first[i] << (kDigits - 1 - i);
  for (int i = degree; i < kDigits; ++i) {
    columns[i] = columns[i - degree] ^ (columns[i - degree] >> degree);
    for (int k = 1; k < degree; ++k) {
      if ((direction.coefficients >> (degree - 1 - k)) & 1) columns[i] ^= columns[i - k];
    }
  }
  return columns;
}

const Columns& CachedColumns(std::size_t dimension) {
  static const auto table = [] {
    std::array<Columns, kSobolDimensions> made;
    for (std::size_t d = 0; d < kSobolDimensions; ++d) made[d] = ColumnsOf(d);
    return made;
  }();
  return table[dimension];
}

std::uint32_t Reverse(std::uint32_t value) {
  value = ((value >> 1) & 0x55555555) | ((value & 0x55555555) << 1);
  value = ((value >> 2) & 0x33333333) | ((value & 0x33333333) << 2);
  value = ((value >> 4) & 0x0f0f0f0f) | ((value & 0x0f0f0f0f) << 4);
  return __builtin_bswap32(value);
}

// Flips each digit by a hash of the digits before it: on the reversed number a product carries
// upwards only.
std::uint32_t Scramble(std::uint32_t digits, std::uint32_t seed) {
  std::uint32_t value = Reverse(digits);
  value ^= value * 0x3d20adea;
  value += seed;
  value *= (seed >> 16) | 1;
  value ^= value * 0x05526c56;
  value ^= value * 0x53a22864;
  return Reverse(value);
}

}  // namespace

std::uint32_t SobolDigits(std::uint32_t index, std::size_t dimension) {
  CHECK(dimension < kSobolDimensions);
  const Columns& columns = CachedColumns(dimension);
  std::uint32_t digits = 0;
  for (int i = 0; index != 0; index >>= 1, ++i) {
    if (index & 1) digits ^= columns[i];
  }
  return digits;
}

Point Sobol::At(std::uint32_t index) const {
  Point point(dimensions_);
  Rng beyond(seed_, Stream{index});
  for (std::size_t d = 0; d < dimensions_; ++d) {
    if (d >= kSobolDimensions) {
      point[d] = beyond.Uniform();
      continue;
    }
    const auto seed = static_cast<std::uint32_t>(Mix(seed_ + 0x9e3779b97f4a7c15 * (d + 1)));
    point[d] = Scramble(SobolDigits(index, d), seed) * 0x1p-32;
  }
  return point;
}

}  // namespace sabia::tuner
