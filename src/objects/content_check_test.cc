#include "objects/content_check.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "base/encoding.h"

namespace sabia::objects {
namespace {

std::string Md5(std::string_view data) {
  const auto md5 = NewMd5();
  md5->Update(data);
  return md5->Finish();
}

std::string Raw(ChecksumAlgorithm algorithm, std::string_view data) {
  const auto hasher = NewHasher(algorithm);
  hasher->Update(data);
  return hasher->Finish();
}

constexpr std::array kAlgorithms = {ChecksumAlgorithm::kCrc32, ChecksumAlgorithm::kCrc32c,
                                    ChecksumAlgorithm::kCrc64Nvme, ChecksumAlgorithm::kSha1,
                                    ChecksumAlgorithm::kSha256};

ObjectInfo Plain(std::string_view data, ChecksumAlgorithm algorithm) {
  ObjectInfo out;
  out.size = data.size();
  out.etag = HexEncode(Md5(data));
  out.checksums[std::string(Name(algorithm))] = Base64Encode(Raw(algorithm, data));
  return out;
}

ObjectInfo Parted(const std::vector<std::string>& parts, ChecksumAlgorithm algorithm) {
  ObjectInfo out;
  std::string md5s;
  for (const std::string& part : parts) {
    md5s += Md5(part);
    out.part_checksums += Raw(algorithm, part);
    out.parts.push_back(part.size());
    out.size += part.size();
  }
  out.etag = fmt::format("{}-{}", HexEncode(Md5(md5s)), parts.size());
  out.checksums[std::string(Name(algorithm))] =
      fmt::format("{}-{}", Base64Encode(Raw(algorithm, out.part_checksums)), parts.size());
  return out;
}

std::vector<std::string> Differences(const ObjectInfo& expected, std::string_view data,
                                     std::size_t step) {
  ContentCheck check(expected);
  for (std::size_t at = 0; at < data.size(); at += step) check.Update(data.substr(at, step));
  return check.Finish();
}

TEST(ContentCheckTest, RightBytesDifferInNothing) {
  const std::string data = "the bytes of an object, of some length";
  for (const ChecksumAlgorithm algorithm : kAlgorithms) {
    for (const std::size_t step : {1U, 7U, 1000U}) {
      EXPECT_EQ(Differences(Plain(data, algorithm), data, step), std::vector<std::string>{});
      const std::vector<std::string> parts = {data.substr(0, 10), data.substr(10, 3),
                                              data.substr(13)};
      EXPECT_EQ(Differences(Parted(parts, algorithm), data, step), std::vector<std::string>{});
    }
  }
}

TEST(ContentCheckTest, NothingIsAnObjectToo) {
  EXPECT_EQ(Differences(Plain("", ChecksumAlgorithm::kCrc32), "", 1), std::vector<std::string>{});
  EXPECT_EQ(Differences(Parted({""}, ChecksumAlgorithm::kSha256), "", 1),
            std::vector<std::string>{});
  EXPECT_EQ(Differences(Parted({"a", ""}, ChecksumAlgorithm::kSha256), "a", 1),
            std::vector<std::string>{});
}

TEST(ContentCheckTest, EveryFlippedBitIsSeenByEtagAndChecksum) {
  const std::string data = "0123456789";
  for (const ObjectInfo& expected : {Plain(data, ChecksumAlgorithm::kCrc64Nvme),
                                     Parted({"0123", "456789"}, ChecksumAlgorithm::kCrc32c)}) {
    for (std::size_t bit = 0; bit < data.size() * 8; ++bit) {
      std::string flipped = data;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_GE(Differences(expected, flipped, 4).size(), 2U) << bit;
    }
  }
}

TEST(ContentCheckTest, LengthsAreNamed) {
  const ObjectInfo plain = Plain("0123456789", ChecksumAlgorithm::kCrc32);
  EXPECT_EQ(Differences(plain, "012345678", 4).front(), "is 9 bytes long, not 10");
  const ObjectInfo parted = Parted({"01234", "56789"}, ChecksumAlgorithm::kCrc32);
  EXPECT_EQ(Differences(parted, "0123456789a", 4).front(), "is 11 bytes long, not 10");
  EXPECT_EQ(Differences(parted, "0123", 4).front(), "is 4 bytes long, not 10");
}

TEST(ContentCheckTest, AlteredPartChecksumsAreSeen) {
  ObjectInfo parted = Parted({"01234", "56789"}, ChecksumAlgorithm::kSha1);
  parted.part_checksums[3] ^= 1;
  EXPECT_EQ(Differences(parted, "0123456789", 4),
            std::vector<std::string>{"has other sha1 checksums of its parts"});
}

TEST(ContentCheckTest, AnUnknownChecksumIsNamed) {
  ObjectInfo plain = Plain("a", ChecksumAlgorithm::kCrc32);
  plain.checksums["crc7"] = "AA==";
  const auto differences = Differences(plain, "a", 1);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_NE(differences[0].find("crc7"), std::string::npos);
}

}  // namespace
}  // namespace sabia::objects
