// CRCs of long inputs by carry-less multiplication: 64 bytes a step, for any polynomial.
//
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace sabia::wire {

// x^bits modulo the polynomial (without its leading term, reflected), reflected: bit 63 stands for
// x^0. For 32-bit polynomials the lower half is empty.
constexpr std::uint64_t PowerOfX(unsigned bits, std::uint64_t polynomial, unsigned width) {
  std::uint64_t power = std::uint64_t{1} << (width - 1);
  for (unsigned i = 0; i < bits; ++i) {
    power = (power >> 1) ^ ((power & 1) != 0 ? polynomial : 0);
  }
  return power << (64 - width);
}

// What two halves of 16 bytes are multiplied with to move them over a distance of bits.
struct FoldFactors {
  std::uint64_t low = 0;   // of the first 8 bytes
  std::uint64_t high = 0;  // of the other 8
};
struct FoldPlan {
  FoldFactors by_64_bytes;
  FoldFactors by_16_bytes;
};
// The product of two reflected 64-bit polynomials lies one bit lower than the 16 bytes it is added
// to: hence the powers are smaller by one.
constexpr FoldFactors FactorsFor(unsigned bits, std::uint64_t polynomial, unsigned width) {
  return {PowerOfX(bits + 63, polynomial, width), PowerOfX(bits - 1, polynomial, width)};
}
constexpr FoldPlan MakeFoldPlan(std::uint64_t polynomial, unsigned width) {
  return {FactorsFor(512, polynomial, width), FactorsFor(128, polynomial, width)};
}

// Whether this machine has the instruction.
bool CanFold();
inline constexpr std::size_t kFoldLeast = 64;
inline constexpr std::size_t kFolded = 16;
// Reduces data to 16 bytes that leave the same remainder; crc, the register's bits before the data
// (not inverted), is taken in. REQUIRES: CanFold(), data of a multiple of 16 bytes and at least
// kFoldLeast.
void Fold(const FoldPlan& plan, std::uint64_t crc, std::string_view data, char* out);

}  // namespace sabia::wire
