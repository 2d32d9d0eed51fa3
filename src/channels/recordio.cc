#include "channels/recordio.h"

#include "base/check.h"

namespace sabia::channels {
namespace {

constexpr std::uint32_t kMagic = 0xced7230a;

}  // namespace

std::array<char, 8> RecordIoHeader(std::uint64_t length) {
  CHECK(length <= kRecordIoPayloadMax);
  const auto size = static_cast<std::uint32_t>(length);
  std::array<char, 8> out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = static_cast<char>(kMagic >> (8 * i) & 0xFF);
    out[4 + i] = static_cast<char>(size >> (8 * i) & 0xFF);
  }
  return out;
}

std::string_view RecordIoPadding(std::uint64_t length) {
  return std::string_view("\0\0\0", 3).substr(0, (4 - length % 4) % 4);
}

}  // namespace sabia::channels
