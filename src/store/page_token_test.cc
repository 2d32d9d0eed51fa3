#include "store/page_token.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/encoding.h"

namespace sabia::store {
namespace {

TokenKey CountingKey() {
  TokenKey key;
  std::iota(key.begin(), key.end(), static_cast<unsigned char>(0));
  return key;
}

// The vectors of the paper's reference implementation: key 00..0f, message 00, 01, ... of each
// length.
TEST(SipHash, MatchesTheReferenceVectors) {
  std::string message;
  EXPECT_EQ(SipHash(CountingKey(), message), 0x726fdb47dd0e0e31u);
  message = std::string(1, '\0');
  EXPECT_EQ(SipHash(CountingKey(), message), 0x74f839c593dc67fdu);
  message.resize(15);
  std::iota(message.begin(), message.end(), '\0');
  EXPECT_EQ(SipHash(CountingKey(), message), 0xa129ca6149be45e5u);
}

TEST(PageToken, ComesBackWhole) {
  const PagePosition position{"job-é", -5, 1'000'000'000'000};
  const std::string token = EncodePageToken(CountingKey(), 77, position);
  EXPECT_EQ(DecodePageToken(CountingKey(), 77, token).value(), position);
}

TEST(PageToken, IsRefusedWhenAlteredInAnyByteOrCut) {
  const std::string token = EncodePageToken(CountingKey(), 77, {"job", 1, 2});
  const std::string bytes = Base64Decode(token).value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(DecodePageToken(CountingKey(), 77, Base64Encode(altered))) << i;
    EXPECT_FALSE(DecodePageToken(CountingKey(), 77, Base64Encode(bytes.substr(0, i)))) << i;
  }
  EXPECT_FALSE(DecodePageToken(CountingKey(), 77, token + "A"));
  EXPECT_FALSE(DecodePageToken(CountingKey(), 77, "next"));
  EXPECT_FALSE(DecodePageToken(CountingKey(), 77, std::string(10'000, 'A')));
}

TEST(PageToken, IsRefusedByAnotherQueryAndAnotherHome) {
  const std::string token = EncodePageToken(CountingKey(), 77, {"job", 1, 2});
  const auto refused = DecodePageToken(CountingKey(), 78, token);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  TokenKey other = CountingKey();
  other[3] ^= 1;
  EXPECT_FALSE(DecodePageToken(other, 77, token));
}

}  // namespace
}  // namespace sabia::store
