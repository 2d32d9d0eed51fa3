#include "wire/checksum.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <thread>

#include "base/encoding.h"
#include "env/random.h"
#include "wire/crc_fold.h"
#include "wire/md5_team.h"

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

std::string RandomBytes(env::Random& random, std::size_t size) {
  std::string out(size, '\0');
  random.Fill({reinterpret_cast<unsigned char*>(out.data()), out.size()});
  return out;
}

// Short inputs never fold: what is folded must equal what is fed in short pieces.
TEST(Checksum, LongInputsGiveTheSameAsShortPieces) {
  env::SeededRandom random(13);
  for (const ChecksumAlgorithm algorithm : kAll) {
    if (!IsCrc(algorithm)) continue;
    for (std::size_t size = kFoldLeast - 2; size < 400; ++size) {
      const std::string data = RandomBytes(random, size);
      auto folded = NewHasher(algorithm), pieces = NewHasher(algorithm);
      for (const std::size_t first : {std::size_t{0}, size / 3, size}) {
        folded->Update(std::string_view(data).substr(0, first));
        folded->Update(std::string_view(data).substr(first));
        for (std::size_t at = 0; at < size; at += 7) pieces->Update(data.substr(at, 7));
      }
      EXPECT_EQ(folded->Finish(), pieces->Finish()) << Name(algorithm) << " of " << size;
    }
  }
}

TEST(Checksum, Crc32IsZlibs) {
  env::SeededRandom random(17);
  for (const std::size_t size : {0, 1, 63, 64, 65, 1000, 100'003}) {
    const std::string data = RandomBytes(random, size);
    const auto expected = static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
    EXPECT_EQ(HexEncode(Hash(ChecksumAlgorithm::kCrc32, data)), fmt::format("{:08x}", expected));
  }
}

TEST(Md5Team, HashesAsOneThreadDoesAlone) {
  Md5Team team;
  env::SeededRandom random(19);
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string data = RandomBytes(random, size);
    auto expected = NewMd5(), got = NewMd5(team);
    expected->Update(data);
    got->Update(std::string_view(data).substr(0, size / 2));
    got->Update(std::string_view(data).substr(size / 2));
    EXPECT_EQ(HexEncode(got->Finish()), HexEncode(expected->Finish())) << size;
    EXPECT_EQ(got->Finish(), expected->Finish()) << "Finish must be repeatable";
  }
}

// More threads than lanes, pieces of many sizes: everybody's hash is right and everybody ends.
TEST(Md5Team, ThreadsShareTheLanes) {
  Md5Team team;
  std::vector<std::string> got(7), expected(7);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < got.size(); ++t) {
    threads.emplace_back([&, t] {
      env::SeededRandom random(100 + t);
      auto shared = NewMd5(team), alone = NewMd5();
      for (int i = 0; i < 40; ++i) {
        const std::string data = RandomBytes(random, random.Below(400'000));
        shared->Update(data);
        alone->Update(data);
      }
      got[t] = HexEncode(shared->Finish());
      expected[t] = HexEncode(alone->Finish());
    });
  }
  threads.clear();
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace sabia::wire
