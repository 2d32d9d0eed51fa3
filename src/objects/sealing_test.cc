// Goal: what is sealed comes back whole or not at all, whatever is done to the file.
#include "objects/sealing.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::objects {
namespace {

constexpr std::array<unsigned char, kSaltBytes> kSalt = {1, 2, 3};
const DataKey kKey = {9, 8, 7};

std::string Content(std::size_t size, int seed = 1) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = static_cast<char>((i * 31 + i / 251 + static_cast<std::size_t>(seed)) & 0xff);
  }
  return out;
}

std::string Sealed(std::string_view content, int part = 0, std::size_t step = 10'000) {
  std::string out;
  Sealer sealer(kKey, part, kSalt, [&](std::string_view data) -> Status {
    out += data;
    return {};
  });
  for (std::size_t at = 0; at < content.size(); at += step) {
    EXPECT_TRUE(sealer.Write(content.substr(at, step)));
  }
  EXPECT_TRUE(sealer.Finish());
  return out;
}

class SealingTest : public ::testing::Test {
 protected:
  // "error" when the file does not give the bytes.
  std::string Read(const std::string& file, std::vector<Segment> segments, std::uint64_t offset,
                   std::size_t size, const DataKey& key = kKey) {
    const env::Path path = directory_.path() / "sealed";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << file;
    const auto fd = env::OpenFile(path, O_RDONLY);
    Unsealer unsealer(key, std::move(segments), fd->get());
    std::string out(size, '\0');
    const Status read = unsealer.Read(offset, out);
    if (read) return out;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    return "error";
  }

  env::TemporaryDirectory directory_;
};

TEST_F(SealingTest, EverySizeComesBack) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kFrameBytes - 1, kFrameBytes,
                                 kFrameBytes + 1, 3 * kFrameBytes, std::size_t{1'000'000}}) {
    const std::string content = Content(size);
    for (const std::size_t step : {std::size_t{7'919}, kFrameBytes, std::size_t{2'000'000}}) {
      const std::string file = Sealed(content, 0, step);
      EXPECT_EQ(file.size(), SealedSize(size));
      EXPECT_EQ(Read(file, {{size, 0}}, 0, size), content) << size;
    }
  }
}

TEST_F(SealingTest, NothingOfTheContentIsLeft) {
  const std::string content(200'000, 'x');
  const std::string file = Sealed(content);
  EXPECT_EQ(file.find("xxxx"), std::string::npos);
  // Equal frames do not look equal.
  EXPECT_NE(file.substr(kSaltBytes, 64), file.substr(kSaltBytes + kFrameBytes + kTagBytes, 64));
}

TEST_F(SealingTest, RangesReadOnlyTheirFrames) {
  const std::string content = Content(5 * kFrameBytes + 100);
  std::string file = Sealed(content);
  file[kSaltBytes + 10] ^= 1;  // the first frame is damaged
  for (const std::uint64_t offset :
       {std::uint64_t{kFrameBytes}, std::uint64_t{2 * kFrameBytes - 5}, content.size() - 3}) {
    const std::size_t size = std::min<std::size_t>(70'000, content.size() - offset);
    EXPECT_EQ(Read(file, {{content.size(), 0}}, offset, size), content.substr(offset, size));
  }
  EXPECT_EQ(Read(file, {{content.size(), 0}}, kFrameBytes - 1, 2), "error");
}

TEST_F(SealingTest, EveryFlippedBitOfASmallFileIsSeen) {
  const std::string file = Sealed("small");
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(Read(flipped, {{5, 0}}, 0, 5), "error") << bit;
  }
}

TEST_F(SealingTest, FramesCannotMoveAndNothingCanBeCut) {
  const std::string content = Content(3 * kFrameBytes);
  const std::string file = Sealed(content);
  const std::size_t frame = kFrameBytes + kTagBytes;
  std::string swapped = file;
  swapped.replace(kSaltBytes, frame, file, kSaltBytes + frame, frame);
  swapped.replace(kSaltBytes + frame, frame, file, kSaltBytes, frame);
  EXPECT_EQ(Read(swapped, {{content.size(), 0}}, 0, 1), "error");
  EXPECT_EQ(Read(swapped, {{content.size(), 0}}, kFrameBytes, 1), "error");
  // Two whole frames look like a shorter object, but for the mark of the last one.
  EXPECT_EQ(Read(file.substr(0, kSaltBytes + 2 * frame), {{2 * kFrameBytes, 0}}, kFrameBytes, 1),
            "error");
  EXPECT_EQ(Read(file.substr(0, file.size() - 1), {{content.size(), 0}}, 2 * kFrameBytes, 1),
            "error");
}

TEST_F(SealingTest, PartsFollowEachOtherInTheirOrderOnly) {
  const std::string one = Content(kFrameBytes + 10, 1), two = Content(kFrameBytes + 10, 2);
  const std::vector<Segment> segments = {{one.size(), 1}, {two.size(), 5}};
  const std::string file = Sealed(one, 1) + Sealed(two, 5);
  const std::string all = one + two;
  EXPECT_EQ(Read(file, segments, 0, all.size()), all);
  EXPECT_EQ(Read(file, segments, one.size() - 3, 6), all.substr(one.size() - 3, 6));
  EXPECT_EQ(Read(Sealed(two, 5) + Sealed(one, 1), segments, 0, 1), "error");
  // An empty part between them takes no part in the content.
  const std::string with_empty = Sealed(one, 1) + Sealed("", 2) + Sealed(two, 5);
  EXPECT_EQ(Read(with_empty, {{one.size(), 1}, {0, 2}, {two.size(), 5}}, 0, all.size()), all);
}

TEST_F(SealingTest, AnotherKeyOpensNothing) {
  const DataKey other = {1};
  EXPECT_EQ(Read(Sealed("secret"), {{6, 0}}, 0, 6, other), "error");
}

TEST_F(SealingTest, ShortTexts) {
  const auto sealed = SealText({kKey, "for whom"}, "the text", {1, 2, 3});
  ASSERT_TRUE(sealed);
  EXPECT_EQ(OpenText({kKey, "for whom"}, *sealed).value(), "the text");
  EXPECT_FALSE(OpenText({kKey, "for another"}, *sealed));
  EXPECT_FALSE(OpenText({kKey, "for whom"}, sealed->substr(1)));
  EXPECT_FALSE(OpenText({kKey, "for whom"}, "short"));
}

}  // namespace
}  // namespace sabia::objects
