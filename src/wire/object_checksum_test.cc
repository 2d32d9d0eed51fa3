#include "wire/object_checksum.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;
using Kind = ObjectChecksum::Kind;

std::string HashOf(std::unique_ptr<Hasher> hasher, std::string_view data) {
  hasher->Update(data);
  return hasher->Finish();
}

ObjectChecksum Of(std::initializer_list<std::pair<std::string, std::string>> fields) {
  Headers headers;
  for (const auto& [name, value] : fields) headers.Add(name, value);
  return ChecksumOf(headers);
}

// Agrees, and does not agree with other content.
void ExpectVerifies(const ObjectChecksum& announced, const std::string& content) {
  env::TemporaryDirectory directory;
  for (const bool right : {true, false}) {
    std::string bytes = content;
    if (!right) bytes[bytes.size() / 2] ^= 1;
    const auto fd = env::OpenFile(directory.path() / "f", O_RDWR | O_CREAT | O_TRUNC);
    ASSERT_TRUE(fd && env::WriteAll(fd->get(), bytes));
    const Status verified = VerifyFile(fd->get(), bytes.size(), announced);
    EXPECT_EQ(verified.has_value(), right);
    EXPECT_TRUE(right || verified.error().code == ErrorCode::kCorrupt);
  }
}

TEST(ObjectChecksumTest, TakesTheBestThatIsAnnounced) {
  const std::string md5 = "\"900150983cd24fb0d6963f7d28e17f72\"";
  EXPECT_EQ(Of({}).kind, Kind::kNone);
  EXPECT_EQ(Of({{"ETag", "\"opaque\""}}).kind, Kind::kNone);
  EXPECT_EQ(Of({{"ETag", md5}}).kind, Kind::kWhole);
  EXPECT_FALSE(Of({{"ETag", md5}}).combines());
  EXPECT_EQ(Of({{"ETag", md5}, {"x-amz-server-side-encryption", "aws:kms"}}).kind, Kind::kNone);
  EXPECT_EQ(Of({{"ETag", md5}, {"x-amz-server-side-encryption", "AES256"}}).kind, Kind::kWhole);
  const ObjectChecksum crc = Of({{"ETag", md5}, {"x-amz-checksum-crc64nvme", "AAAAAAAAAAE="}});
  EXPECT_EQ(crc.algorithm, ChecksumAlgorithm::kCrc64Nvme);
  EXPECT_TRUE(crc.combines());
  const std::string parts = "\"900150983cd24fb0d6963f7d28e17f72-3\"";
  const ObjectChecksum composite = Of({{"ETag", parts}, {"x-amz-checksum-crc32", "AAAAAA==-3"}});
  EXPECT_EQ(composite.kind, Kind::kParts);
  EXPECT_EQ(composite.parts, 3u);
  EXPECT_EQ(composite.algorithm, ChecksumAlgorithm::kCrc32);
  EXPECT_EQ(Of({{"ETag", parts}}).parts, 3u);
  EXPECT_EQ(Of({{"x-amz-checksum-crc32", "too long for it="}}).kind, Kind::kNone);
  EXPECT_EQ(Of({{"ETag", "\"900150983cd24fb0d6963f7d28e17f72-x\""}}).kind, Kind::kNone);
}

TEST(ObjectChecksumTest, VerifiesFiles) {
  const std::string content(3'000'000, 'x');
  for (const ChecksumAlgorithm algorithm :
       {ChecksumAlgorithm::kCrc32, ChecksumAlgorithm::kCrc32c, ChecksumAlgorithm::kCrc64Nvme,
        ChecksumAlgorithm::kSha1, ChecksumAlgorithm::kSha256}) {
    const std::string value = Base64Encode(HashOf(NewHasher(algorithm), content));
    ExpectVerifies(Of({{fmt::format("x-amz-checksum-{}", Name(algorithm)), value}}), content);
  }
  ExpectVerifies(Of({{"ETag", "\"" + HexEncode(HashOf(NewMd5(), content)) + "\""}}), content);
}

TEST(ObjectChecksumTest, VerifiesPartsOnceTheirLengthIsKnown) {
  const std::string content(2'500'000, 'y');
  std::string hashes;
  for (std::size_t at = 0; at < content.size(); at += 1'000'000) {
    hashes += HashOf(NewMd5(), content.substr(at, 1'000'000));
  }
  ObjectChecksum announced = Of({{"ETag", "\"" + HexEncode(HashOf(NewMd5(), hashes)) + "-3\""}});
  env::TemporaryDirectory directory;
  const auto fd = env::OpenFile(directory.path() / "f", O_RDWR | O_CREAT);
  EXPECT_TRUE(VerifyFile(fd->get(), 0, announced)) << "what is not known passes";
  announced.part_size = 1'000'000;
  ExpectVerifies(announced, content);
}

}  // namespace
}  // namespace sabia::wire
