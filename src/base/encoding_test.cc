#include "base/encoding.h"

#include <gtest/gtest.h>

namespace sabia {
namespace {

TEST(Encoding, HexRoundTripsAndRefusesOddLengthAndBadDigits) {
  EXPECT_EQ(HexEncode(std::string("\x00\xff\x10", 3)), "00ff10");
  EXPECT_EQ(HexDecode("00FF10").value(), std::string("\x00\xff\x10", 3));
  EXPECT_FALSE(HexDecode("abc"));
  EXPECT_FALSE(HexDecode("zz"));
}

TEST(Encoding, Base64FollowsTheVectorsOfRfc4648) {
  EXPECT_EQ(Base64Encode(""), "");
  EXPECT_EQ(Base64Encode("f"), "Zg==");
  EXPECT_EQ(Base64Encode("fo"), "Zm8=");
  EXPECT_EQ(Base64Encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64Decode("Zg==").value(), "f");
  EXPECT_EQ(Base64Decode("Zm8=").value(), "fo");
  EXPECT_FALSE(Base64Decode("Zg="));
  EXPECT_FALSE(Base64Decode("Z!=="));
  EXPECT_FALSE(Base64Decode("Zg==Zg=="));
}

TEST(Encoding, UriEncodingKeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(UriEncode("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(UriEncode("a/b+c", true), "a/b%2Bc");
  EXPECT_EQ(UriDecode("a%20b+c").value(), "a b+c");
  EXPECT_EQ(UriDecode("a%20b+c", true).value(), "a b c");
  EXPECT_FALSE(UriDecode("%2"));
  EXPECT_FALSE(UriDecode("%zz"));
}

TEST(Encoding, Utf8RefusesOverlongFormsAndSurrogates) {
  EXPECT_TRUE(IsUtf8("plain \xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsUtf8("\xC0\x80"));
  EXPECT_FALSE(IsUtf8("\xED\xA0\x80"));
  EXPECT_FALSE(IsUtf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(IsUtf8("\xE2\x82"));
}

}  // namespace
}  // namespace sabia
