#include "env/random.h"

#include <array>
#include <cstring>

#include "base/encoding.h"

namespace sabia::env {

std::uint64_t Random::Next() {
  std::array<unsigned char, 8> bytes{};
  Fill(bytes);
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

std::uint64_t Random::Below(std::uint64_t bound) {
  // Rejects the incomplete last interval, so that every value is equally likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = Next();
  while (value >= limit) value = Next();
  return value % bound;
}

std::string Random::Hex(std::size_t digits) {
  std::string bytes((digits + 1) / 2, '\0');
  Fill({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  std::string out = HexEncode(bytes);
  out.resize(digits);
  return out;
}

std::string Random::Uuid() {
  std::string hex = Hex(32);
  hex[12] = '4';
  constexpr char kVariant[] = "89ab";
  hex[16] = kVariant[Below(4)];
  for (const std::size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

void SeededRandom::Fill(std::span<unsigned char> out) {
  for (std::size_t i = 0; i < out.size(); i += 8) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    std::memcpy(out.data() + i, &z, std::min<std::size_t>(8, out.size() - i));
  }
}

}  // namespace sabia::env
