#include <gmock/gmock.h>

#include "base/encoding.h"
#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class S3MultipartTest : public testing::S3Fixture {
 protected:
  std::string Begin(std::vector<std::pair<std::string, std::string>> headers = {}) {
    const auto response = Do({"POST", "/bkt/big?uploads", std::move(headers)});
    EXPECT_EQ(response.status, 200U) << response.body;
    return Between(response.body, "<UploadId>", "</UploadId>");
  }
  static std::string PartTarget(const std::string& id, int number) {
    return fmt::format("/bkt/big?partNumber={}&uploadId={}", number, id);
  }
  // The ETag, still in quotes.
  std::string Part(const std::string& id, int number, const std::string& data) {
    const auto response = Do({"PUT", PartTarget(id, number), {}, data});
    EXPECT_EQ(response.status, 200U) << response.body;
    return std::string(response.headers.Get("etag"));
  }
  static std::string Document(const std::vector<std::pair<int, std::string>>& parts) {
    std::string out = "<CompleteMultipartUpload>";
    for (const auto& [number, etag] : parts) {
      out += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", number, etag);
    }
    return out + "</CompleteMultipartUpload>";
  }
};

TEST_F(S3MultipartTest, UploadsInParts) {
  const std::string id = Begin({{"x-amz-checksum-algorithm", "CRC32"},
                                {"Content-Type", "a/b"},
                                {"x-amz-server-side-encryption", "AES256"}});
  const std::string big(kPartBytesMin, 'a');
  const std::string one = Part(id, 1, big);
  const std::string two = Part(id, 2, "tail");
  const auto done = Do({"POST", "/bkt/big?uploadId=" + id, {}, Document({{1, one}, {2, two}})});
  EXPECT_EQ(done.status, 200U) << done.body;
  EXPECT_THAT(done.body, HasSubstr("<Location>http://127.0.0.1:9000/bkt/big</Location>"));
  EXPECT_THAT(done.body, HasSubstr("-2&quot;</ETag>"));
  EXPECT_THAT(done.body, HasSubstr("<ChecksumType>COMPOSITE</ChecksumType>"));
  EXPECT_EQ(done.headers.Get("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(Do({"GET", "/bkt/big"}).body, big + "tail");

  const auto part = Do({"GET", "/bkt/big?partNumber=2"});
  EXPECT_EQ(part.status, 206U);
  EXPECT_EQ(part.body, "tail");
  EXPECT_EQ(part.headers.Get("x-amz-mp-parts-count"), "2");
  EXPECT_EQ(part.headers.Get("content-type"), "a/b");
  EXPECT_EQ(Outcome({"GET", "/bkt/big?partNumber=3"}), "416 InvalidPartNumber");
}

TEST_F(S3MultipartTest, WholeClaimsAreChecked) {
  const std::string id =
      Begin({{"x-amz-checksum-algorithm", "CRC32"}, {"x-amz-checksum-type", "FULL_OBJECT"}});
  const std::string etag = Part(id, 1, "hello");
  const std::string target = "/bkt/big?uploadId=" + id, body = Document({{1, etag}});
  EXPECT_EQ(Outcome({"POST", target, {{"x-amz-checksum-crc32", "AAAAAA=="}}, body}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"POST", target, {{"x-amz-mp-object-size", "6"}}, body}), "400 InvalidRequest");
  EXPECT_EQ(Outcome({"POST",
                     target,
                     {{"x-amz-checksum-crc32", "NhCmhg=="}, {"x-amz-mp-object-size", "5"}},
                     body}),
            "200 ");
}

TEST_F(S3MultipartTest, Refusals) {
  const std::string id = Begin();
  const std::string etag = Part(id, 1, "x");
  const std::string target = "/bkt/big?uploadId=" + id;
  EXPECT_EQ(Outcome({"POST", target, {}, Document({{2, etag}})}), "400 InvalidPart");
  EXPECT_EQ(Outcome({"POST", target, {}, Document({{1, "\"no\""}})}), "400 InvalidPart");
  const std::string second = Part(id, 2, "y");
  EXPECT_EQ(Outcome({"POST", target, {}, Document({{2, second}, {1, etag}})}),
            "400 InvalidPartOrder");
  EXPECT_EQ(Outcome({"POST", target, {}, Document({{1, etag}, {2, second}})}),
            "400 EntityTooSmall");
  EXPECT_EQ(Outcome({"POST", target, {}, "nonsense"}), "400 MalformedXML");
  EXPECT_EQ(Outcome({"PUT", PartTarget(id, 0)}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"PUT", PartTarget(id, 10'001)}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"PUT", PartTarget("nope", 1)}), "404 NoSuchUpload");
  EXPECT_EQ(Outcome({"DELETE", target}), "204 ");
  EXPECT_EQ(Outcome({"DELETE", target}), "404 NoSuchUpload");
  EXPECT_EQ(Outcome({"POST", "/bkt/big?uploads", {{"x-amz-checksum-algorithm", "MD4"}}}),
            "400 InvalidRequest");
  EXPECT_EQ(
      Outcome({"POST",
               "/bkt/big?uploads",
               {{"x-amz-checksum-algorithm", "SHA256"}, {"x-amz-checksum-type", "FULL_OBJECT"}}}),
      "400 InvalidRequest");
  const std::string sha = Begin({{"x-amz-checksum-algorithm", "SHA256"}});
  EXPECT_EQ(Outcome({"PUT", PartTarget(sha, 1), {{"x-amz-checksum-crc32", "NhCmhg=="}}, "hello"}),
            "400 InvalidRequest");
}

TEST_F(S3MultipartTest, CopiesRangesIntoParts) {
  ASSERT_TRUE(Put("bkt", "source", "0123456789"));
  const std::string id = Begin();
  const auto copied =
      Do({"PUT",
          PartTarget(id, 1),
          {{"x-amz-copy-source", "bkt/source"}, {"x-amz-copy-source-range", "bytes=2-4"}}});
  EXPECT_EQ(copied.status, 200U) << copied.body;
  const std::string etag = Between(copied.body, "<ETag>", "</ETag>");
  EXPECT_EQ(Outcome({"POST", "/bkt/big?uploadId=" + id, {}, Document({{1, etag}})}), "200 ");
  EXPECT_EQ(Read("bkt", "big"), "234");
  EXPECT_EQ(
      Outcome({"PUT",
               PartTarget(Begin(), 1),
               {{"x-amz-copy-source", "bkt/source"}, {"x-amz-copy-source-range", "bytes=2-10"}}}),
      "400 InvalidArgument");
}

TEST_F(S3MultipartTest, PartsAreDescribedWhereTheyHaveChecksums) {
  const auto begun = Do({"POST", "/bkt/big?uploads", {{"x-amz-checksum-algorithm", "CRC32"}}});
  const std::string id = Between(begun.body, "<UploadId>", "</UploadId>");
  const std::string first = Part(id, 1, std::string(kPartBytesMin, 'x'));
  const std::string second = Part(id, 2, "hello");
  ASSERT_EQ(Outcome({"POST",
                     "/bkt/big?uploadId=" + id,
                     {},
                     "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" + first +
                         "</ETag></Part><Part><PartNumber>2</PartNumber><ETag>" + second +
                         "</ETag></Part></CompleteMultipartUpload>"}),
            "200 ");
  const auto attributes =
      Do({"GET",
          "/bkt/big?attributes",
          {{"x-amz-object-attributes", "ObjectParts"}, {"x-amz-part-number-marker", "1"}}});
  EXPECT_THAT(attributes.body,
              HasSubstr("<Part><PartNumber>2</PartNumber><Size>5</Size><ChecksumCRC32>NhCmhg=="
                        "</ChecksumCRC32></Part><PartsCount>2</PartsCount>"));
  EXPECT_THAT(attributes.body, Not(HasSubstr("<PartNumber>1</PartNumber>")));
  const auto part = Do({"GET", "/bkt/big?partNumber=2", {{"x-amz-checksum-mode", "ENABLED"}}});
  EXPECT_EQ(part.body, "hello");
  EXPECT_EQ(part.headers.Get("x-amz-checksum-crc32"), "NhCmhg==");
}

TEST_F(S3MultipartTest, FoldersOfUploads) {
  const auto begin = [&](const std::string& key) {
    const auto begun = Do({"POST", "/bkt/" + key + "?uploads"});
    return Between(begun.body, "<UploadId>", "</UploadId>");
  };
  for (const char* key : {"a/1", "a/2", "b", "c/1"}) begin(key);
  const std::string first = Do({"GET", "/bkt?uploads&delimiter=%2F&max-uploads=2"}).body;
  EXPECT_THAT(first, HasSubstr("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"));
  EXPECT_THAT(first, HasSubstr("<Key>b</Key>"));
  EXPECT_THAT(first, HasSubstr("<NextKeyMarker>b</NextKeyMarker>"));
  const std::string marker = Between(first, "<NextUploadIdMarker>", "</NextUploadIdMarker>");
  const std::string second =
      Do({"GET", "/bkt?uploads&delimiter=%2F&key-marker=b&upload-id-marker=" + marker}).body;
  EXPECT_THAT(second, HasSubstr("<Prefix>c/</Prefix>"));
  EXPECT_THAT(second, Not(HasSubstr("<Key>b</Key>")));
  const std::string third = Do({"GET", "/bkt?uploads&delimiter=%2F&key-marker=a%2F"}).body;
  EXPECT_THAT(third, Not(HasSubstr("<Prefix>a/</Prefix>")));
  EXPECT_THAT(third, HasSubstr("<Key>b</Key>"));
}

TEST_F(S3MultipartTest, Lists) {
  const std::string id = Begin();
  Part(id, 1, "x");
  Part(id, 3, "yy");
  const std::string first = Do({"GET", "/bkt/big?max-parts=1&uploadId=" + id}).body;
  EXPECT_THAT(first, HasSubstr("<NextPartNumberMarker>1</NextPartNumberMarker>"));
  EXPECT_THAT(first, HasSubstr("<IsTruncated>true</IsTruncated>"));
  const std::string rest = Do({"GET", "/bkt/big?part-number-marker=1&uploadId=" + id}).body;
  EXPECT_THAT(rest, HasSubstr("<PartNumber>3</PartNumber>"));
  EXPECT_THAT(rest, HasSubstr("<Size>2</Size>"));
  EXPECT_THAT(rest, Not(HasSubstr("<PartNumber>1</PartNumber>")));
  const std::string uploads = Do({"GET", "/bkt?uploads"}).body;
  EXPECT_THAT(uploads, HasSubstr("<UploadId>" + id + "</UploadId>"));
  EXPECT_THAT(uploads, HasSubstr("<IsTruncated>false</IsTruncated>"));
  EXPECT_THAT(Do({"GET", "/bkt?uploads&prefix=other"}).body, Not(HasSubstr("<Upload>")));
  EXPECT_THAT(Do({"GET", "/bkt?uploads&delimiter=/"}).body,
              HasSubstr("<IsTruncated>false</IsTruncated>"));
}

}  // namespace
}  // namespace sabia::s3
