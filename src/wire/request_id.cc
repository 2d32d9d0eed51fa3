#include "wire/request_id.h"

#include <string_view>

namespace sabia::wire {
namespace {

// SplitMix64's finisher: neighbours look nothing alike.
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

void AppendHex(std::string& out, std::uint64_t bits, int digits) {
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[(bits >> (4 * i)) & 15];
}

}  // namespace

std::string RequestIds::Next() {
  const std::uint64_t n = count_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t a = Mix(high_ + n * 0x9e3779b97f4a7c15ULL);
  const std::uint64_t b = Mix(low_ ^ a ^ n);
  std::string id;
  id.reserve(36);
  AppendHex(id, a >> 32, 8);
  id += '-';
  AppendHex(id, a >> 16, 4);
  id += "-4";
  AppendHex(id, a, 3);
  id += '-';
  AppendHex(id, 0x8 | ((b >> 60) & 3), 1);
  AppendHex(id, b >> 48, 3);
  id += '-';
  AppendHex(id, b, 12);
  return id;
}

}  // namespace sabia::wire
