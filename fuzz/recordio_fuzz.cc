// The framing of Pipe mode's records. The input is cut into payloads (a byte of length, then so
// many bytes); what is framed is read back by the rules of the format, and nothing is lost or
// moved.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "channels/recordio.h"

namespace {

using sabia::channels::RecordIoHeader;
using sabia::channels::RecordIoPadding;

std::uint32_t Little(std::string_view bytes) {
  std::uint32_t out = 0;
  for (int i = 3; i >= 0; --i) {
    out = out << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  }
  return out;
}

// The first record of the stream, taken off it.
std::string_view TakeRecord(std::string_view& stream) {
  constexpr std::uint32_t kMagic = 0xced7230a;
  CHECK(stream.size() >= 8 && Little(stream) == kMagic);
  const std::uint32_t length = Little(stream.substr(4));
  CHECK(length >> 29 == 0);
  const std::size_t whole = 8 + (static_cast<std::size_t>(length) + 3) / 4 * 4;
  CHECK(stream.size() >= whole);
  const std::string_view payload = stream.substr(8, length);
  CHECK(stream.substr(8 + length, whole - 8 - length).find_first_not_of('\0') == stream.npos);
  stream.remove_prefix(whole);
  return payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> payloads;
  std::string stream;
  while (!input.empty()) {
    const auto wanted = static_cast<unsigned char>(input.front());
    payloads.push_back(input.substr(1, wanted));
    input.remove_prefix(1 + payloads.back().size());
    const auto header = RecordIoHeader(payloads.back().size());
    stream.append(header.data(), header.size());
    stream += payloads.back();
    stream += RecordIoPadding(payloads.back().size());
  }
  std::string_view rest = stream;
  for (const std::string_view payload : payloads) CHECK(TakeRecord(rest) == payload);
  CHECK(rest.empty());
  // The greatest length keeps out of the flags.
  using sabia::channels::kRecordIoPayloadMax;
  const auto longest = RecordIoHeader(kRecordIoPayloadMax - size % 4);
  CHECK(Little({longest.data() + 4, 4}) == kRecordIoPayloadMax - size % 4);
  return 0;
}
