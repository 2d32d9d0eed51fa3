#include "channels/recordio.h"

#include <gtest/gtest.h>

#include <string>

namespace sabia::channels {
namespace {

std::string Framed(const std::string& payload) {
  const auto header = RecordIoHeader(payload.size());
  return std::string(header.data(), header.size()) + payload +
         std::string(RecordIoPadding(payload.size()));
}

TEST(RecordIo, FramesByteForByte) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Framed(""), "\x0a\x23\xd7\xce\0\0\0\0"s);
  EXPECT_EQ(Framed("a"), "\x0a\x23\xd7\xce\x01\0\0\0a\0\0\0"s);
  EXPECT_EQ(Framed("abc"), "\x0a\x23\xd7\xce\x03\0\0\0abc\0"s);
  EXPECT_EQ(Framed("abcd"), "\x0a\x23\xd7\xce\x04\0\0\0abcd"s);
}

TEST(RecordIo, TheLongestRecordHasNoFlags) {
  const auto header = RecordIoHeader(kRecordIoPayloadMax);
  EXPECT_EQ(std::string(header.data() + 4, 4), std::string("\xff\xff\xff\x1f", 4));
}

}  // namespace
}  // namespace sabia::channels
