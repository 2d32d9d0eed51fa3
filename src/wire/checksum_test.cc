#include "wire/checksum.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "env/random.h"

namespace sabia::wire {
namespace {

constexpr ChecksumAlgorithm kAll[] = {ChecksumAlgorithm::kCrc32, ChecksumAlgorithm::kCrc32c,
                                      ChecksumAlgorithm::kCrc64Nvme, ChecksumAlgorithm::kSha1,
                                      ChecksumAlgorithm::kSha256};

std::string Hash(ChecksumAlgorithm algorithm, std::string_view data) {
  auto hasher = NewHasher(algorithm);
  hasher->Update(data);
  return hasher->Finish();
}

// The catalogued check values: each algorithm over the ASCII digits 1 to 9.
TEST(Checksum, CheckValues) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kCrc32, kDigits)), "cbf43926");
  EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kCrc32c, kDigits)), "e3069283");
  EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kCrc64Nvme, kDigits)), "ae8b14860a799888");
  EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kSha1, kDigits)),
            "f7c3bc1d808e04732adf679965ccc34ca7ae3441");
  EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kSha256, kDigits)),
            "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
  auto md5 = NewMd5();
  EXPECT_EQ(HexEncode(md5->Finish()), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(Checksum, NamesRoundTripInEitherCase) {
  for (const ChecksumAlgorithm algorithm : kAll) {
    EXPECT_EQ(ParseChecksumAlgorithm(Name(algorithm)), algorithm);
    EXPECT_EQ(Hash(algorithm, "x").size(), ChecksumSize(algorithm));
  }
  EXPECT_EQ(ParseChecksumAlgorithm("CRC32C"), ChecksumAlgorithm::kCrc32c);
  EXPECT_EQ(ParseChecksumAlgorithm("CRC31"), std::nullopt);
}

TEST(Checksum, PiecesGiveTheSameAsTheWhole) {
  env::SeededRandom random(7);
  std::string data(10'000, '\0');
  random.Fill({reinterpret_cast<unsigned char*>(data.data()), data.size()});
  for (const ChecksumAlgorithm algorithm : kAll) {
    auto hasher = NewHasher(algorithm);
    for (std::size_t at = 0; at < data.size();) {
      const std::size_t n = std::min<std::size_t>(random.Below(40), data.size() - at);
      hasher->Update(std::string_view(data).substr(at, n));
      at += n;
    }
    EXPECT_EQ(hasher->Finish(), Hash(algorithm, data)) << Name(algorithm);
    EXPECT_EQ(hasher->Finish(), Hash(algorithm, data)) << "Finish must be repeatable";
  }
}

TEST(Checksum, CombinedCrcsEqualTheCrcOfTheWhole) {
  env::SeededRandom random(11);
  for (const ChecksumAlgorithm algorithm : kAll) {
    if (!IsCrc(algorithm)) continue;
    for (int round = 0; round < 50; ++round) {
      std::string a(random.Below(300), '\0');
      std::string b(random.Below(300), '\0');
      for (std::string* s : {&a, &b}) {
        random.Fill({reinterpret_cast<unsigned char*>(s->data()), s->size()});
      }
      EXPECT_EQ(CombineCrc(algorithm, Hash(algorithm, a), Hash(algorithm, b), b.size()),
                Hash(algorithm, a + b))
          << Name(algorithm) << " " << a.size() << "+" << b.size();
    }
  }
}

}  // namespace
}  // namespace sabia::wire
