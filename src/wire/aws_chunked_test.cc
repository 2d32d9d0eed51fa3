#include "wire/aws_chunked.h"

#include <gtest/gtest.h>

#include "wire/sigv4.h"

namespace sabia::wire {
namespace {

// Hands out the bytes in pieces of a given size, then the end.
class PiecewiseReader final : public BodyReader {
 public:
  PiecewiseReader(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t n = std::min({out.size(), piece_, bytes_.size() - position_});
    std::copy_n(bytes_.data() + position_, n, out.data());
    position_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t position_ = 0;
};

struct Decoded {
  Result<std::string> content;
  Headers trailers;
};

Decoded Decode(const std::string& wire, const AwsChunkedOptions& options,
               std::size_t piece = 100'000) {
  PiecewiseReader inner(wire, piece);
  AwsChunkedReader reader(inner, options);
  auto content = ReadAll(reader, 1 << 20);
  return {std::move(content), reader.trailers()};
}

// The key, date and signatures of AWS's documented upload of 65 KiB of "a".
ChunkSigning DocumentedSigning(std::string seed) {
  const SigV4Scope scope{"20130524", "us-east-1", "s3"};
  return {SigningKey("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope), "20130524T000000Z",
          scope.ToString(), std::move(seed)};
}

std::string Chunk(std::size_t size, const std::string& signature) {
  std::string chunk = fmt::format("{:x}", size);
  if (!signature.empty()) chunk += ";chunk-signature=" + signature;
  chunk += "\r\n";
  if (size > 0) chunk += std::string(size, 'a') + "\r\n";
  return chunk;
}

std::string DocumentedBody() {
  return Chunk(65536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648") +
         Chunk(1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497") +
         Chunk(0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9") + "\r\n";
}

AwsChunkedOptions DocumentedOptions() {
  return {66560,
          DocumentedSigning("4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"),
          false};
}

TEST(AwsChunked, AcceptsTheDocumentedSignedUploadInAnyPieces) {
  for (const std::size_t piece : {1UL, 7UL, 8192UL, 100'000UL}) {
    const Decoded decoded = Decode(DocumentedBody(), DocumentedOptions(), piece);
    ASSERT_TRUE(decoded.content) << decoded.content.error().message;
    EXPECT_EQ(*decoded.content, std::string(66560, 'a'));
  }
}

TEST(AwsChunked, AcceptsTheDocumentedSignedTrailer) {
  const std::string body =
      Chunk(65536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2") +
      Chunk(1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7") +
      Chunk(0, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992") +
      "x-amz-checksum-crc32c:sOO8/Q==\r\n"
      "x-amz-trailer-signature:"
      "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n";
  AwsChunkedOptions options{
      66560, DocumentedSigning("106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"),
      true};
  const Decoded decoded = Decode(body, options);
  ASSERT_TRUE(decoded.content) << decoded.content.error().message;
  EXPECT_EQ(decoded.trailers.Get("x-amz-checksum-crc32c"), "sOO8/Q==");
  std::string forged = body;
  forged.replace(forged.find("sOO8"), 4, "tOO8");
  EXPECT_EQ(Decode(forged, options).content.error().code, ErrorCode::kDenied);
}

TEST(AwsChunked, RefusesAFlippedByteAndAForgedSignature) {
  std::string flipped = DocumentedBody();
  flipped[66'000] = 'b';
  EXPECT_EQ(Decode(flipped, DocumentedOptions()).content.error().code, ErrorCode::kDenied);
  std::string forged = DocumentedBody();
  forged[forged.find("ad80")] = 'b';
  EXPECT_EQ(Decode(forged, DocumentedOptions()).content.error().code, ErrorCode::kDenied);
  EXPECT_EQ(Decode(Chunk(4, "") + "0\r\n\r\n", DocumentedOptions()).content.error().code,
            ErrorCode::kInvalidArgument);
}

TEST(AwsChunked, ReadsUnsignedChunksWithATrailer) {
  const std::string body =
      "5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n";
  for (const std::size_t piece : {1UL, 3UL, 1000UL}) {
    const Decoded decoded = Decode(body, {11, std::nullopt, true}, piece);
    ASSERT_TRUE(decoded.content) << decoded.content.error().message;
    EXPECT_EQ(*decoded.content, "hello world");
    EXPECT_EQ(decoded.trailers.Get("X-Amz-Checksum-Crc32"), "DUoRhQ==");
  }
  EXPECT_TRUE(Decode("0\r\n\r\n", {0, std::nullopt, true}).content);
  EXPECT_TRUE(Decode("0\r\n", {0, std::nullopt, true}).content);
}

struct Malformed {
  const char* body;
  ErrorCode code;
};

TEST(AwsChunked, RefusesMalformedBodies) {
  const Malformed cases[] = {
      {"", ErrorCode::kInvalidArgument},
      {"zz\r\n", ErrorCode::kInvalidArgument},
      {"-1\r\n", ErrorCode::kInvalidArgument},
      {"ffffffffffffffff\r\n", ErrorCode::kInvalidArgument},
      {"fffffffffffffff\r\n", ErrorCode::kCorrupt},
      {"6\r\nhello!\r\n0\r\n\r\n", ErrorCode::kCorrupt},
      {"4\r\nhell\r\n0\r\n\r\n", ErrorCode::kCorrupt},
      {"5\r\nhelloX\r\n0\r\n\r\n", ErrorCode::kInvalidArgument},
      {"5\r\nhel", ErrorCode::kInvalidArgument},
      {"5\r\nhello\r\n", ErrorCode::kInvalidArgument},
      {"5\r\nhello\r\n0\r\nno colon\r\n\r\n", ErrorCode::kInvalidArgument},
      {"5\r\nhello\r\n0\r\n\r\nmore", ErrorCode::kInvalidArgument},
      {"5\r\nhello\r\n0\r\nx:y", ErrorCode::kInvalidArgument},
  };
  for (const Malformed& malformed : cases) {
    const Decoded decoded = Decode(malformed.body, {5, std::nullopt, true});
    ASSERT_FALSE(decoded.content) << malformed.body;
    EXPECT_EQ(decoded.content.error().code, malformed.code) << malformed.body;
  }
  EXPECT_FALSE(Decode("5;" + std::string(9000, 'x'), {5, std::nullopt, true}).content);
  EXPECT_FALSE(Decode("0\r\nx-a:b\r\n\r\n", {0, std::nullopt, false}).content);
}

}  // namespace
}  // namespace sabia::wire
