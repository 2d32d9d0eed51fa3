// Encryption at rest through the API: what is answered, and what lies on the disk.
#include "s3/encryption.h"

#include <gmock/gmock.h>

#include <fstream>

#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;

constexpr char kHeader[] = "x-amz-server-side-encryption";
constexpr char kKeyHeader[] = "x-amz-server-side-encryption-aws-kms-key-id";

class EncryptionTest : public testing::S3Fixture {
 protected:
  // Whether some file below blobs/ holds these bytes.
  bool LiesPlain(const std::string& bytes) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths_.blobs())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string content(std::istreambuf_iterator<char>(file), {});
      if (content.find(bytes) != std::string::npos) return true;
    }
    return false;
  }
  static std::string Default(const std::string& algorithm, const std::string& rest = "") {
    return "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
           "<SSEAlgorithm>" +
           algorithm + "</SSEAlgorithm>" + rest +
           "</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>";
  }
  static std::string Long() {
    std::string out;
    for (int i = 0; out.size() < 300'000; ++i) out += fmt::format("line {} of a secret\n", i);
    return out;
  }
};

TEST_F(EncryptionTest, S3KeysHideTheBytesAndNothingElse) {
  const std::string content = Long();
  const auto put = Do({"PUT", "/bkt/k", {{kHeader, "AES256"}}, content});
  EXPECT_EQ(put.status, 200U) << put.body;
  EXPECT_EQ(put.headers.Get(kHeader), "AES256");
  EXPECT_FALSE(LiesPlain("of a secret"));
  ASSERT_EQ(Outcome({"PUT", "/bkt/plain", {}, content}), "200 ");
  EXPECT_TRUE(LiesPlain("of a secret"));
  // The ETag and checksum of SSE-S3 are those of the content.
  EXPECT_EQ(put.headers.Get("etag"), Do({"HEAD", "/bkt/plain"}).headers.Get("etag"));
  const auto get = Do({"GET", "/bkt/k", {{"x-amz-checksum-mode", "ENABLED"}}});
  EXPECT_EQ(get.body, content);
  EXPECT_EQ(get.headers.Get(kHeader), "AES256");
  EXPECT_EQ(get.headers.Get("x-amz-checksum-crc32"),
            Do({"GET", "/bkt/plain", {{"x-amz-checksum-mode", "ENABLED"}}})
                .headers.Get("x-amz-checksum-crc32"));
  EXPECT_EQ(Do({"GET", "/bkt/k", {{"Range", "bytes=65530-65545"}}}).body,
            content.substr(65530, 16));
  EXPECT_EQ(Do({"GET", "/bkt/k", {{"Range", "bytes=-5"}}}).body,
            content.substr(content.size() - 5));
  EXPECT_EQ(Do({"HEAD", "/bkt/k"}).headers.Get(kHeader), "AES256");
  EXPECT_EQ(promised_, content.size());
  EXPECT_EQ(Outcome({"PUT", "/bkt/empty", {{kHeader, "AES256"}}, ""}), "200 ");
  EXPECT_EQ(Do({"GET", "/bkt/empty"}).body, "");
}

TEST_F(EncryptionTest, WrongClaimsAboutTheContentAreRefused) {
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt/k",
                     {{kHeader, "AES256"}, {"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}},
                     "hello"}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt/k",
                     {{kHeader, "AES256"},
                      {"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="},
                      {"x-amz-checksum-crc32", "NhCmhg=="}},
                     "hello"}),
            "200 ");
}

TEST_F(EncryptionTest, KmsKeysAreNamedAndMustExist) {
  const auto put =
      Do({"PUT",
          "/bkt/k",
          {{kHeader, "aws:kms"}, {"x-amz-server-side-encryption-bucket-key-enabled", "true"}},
          "hello"});
  EXPECT_EQ(put.status, 200U) << put.body;
  EXPECT_THAT(std::string(put.headers.Get(kKeyHeader)), HasSubstr(":key/"));
  EXPECT_EQ(put.headers.Get("x-amz-server-side-encryption-bucket-key-enabled"), "true");
  EXPECT_NE(put.headers.Get("etag"), "\"5d41402abc4b2a76b9719d911017c592\"") << "no MD5";
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "hello");
  EXPECT_EQ(Do({"HEAD", "/bkt/k"}).headers.Get(kKeyHeader), put.headers.Get(kKeyHeader));
  const auto key = store_->keys().Create(objects::kKmsKeys, "alias/mine");
  const std::string arn = store_->keys().ArnOf(key->id);
  for (const std::string& name : {key->id, arn, std::string("alias/mine")}) {
    EXPECT_EQ(Do({"PUT", "/bkt/k", {{kHeader, "aws:kms"}, {kKeyHeader, name}}, "x"})
                  .headers.Get(kKeyHeader),
              arn);
  }
  const auto unknown = Do({"PUT", "/bkt/k", {{kHeader, "aws:kms"}, {kKeyHeader, "nobody"}}, "x"});
  EXPECT_EQ(unknown.status, 400U);
  EXPECT_THAT(unknown.body, HasSubstr("<Code>KMS.NotFoundException</Code>"));
  EXPECT_THAT(unknown.body, HasSubstr("key/nobody"));
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{kHeader, "AES256"}, {kKeyHeader, key->id}}, "x"}),
            "400 InvalidArgument");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{kKeyHeader, key->id}}, "x"}), "400 InvalidArgument");
}

TEST_F(EncryptionTest, TheContextIsPartOfTheSeal) {
  const auto with = [](const std::string& context) {
    return testing::S3Request{
        "PUT",
        "/bkt/k",
        {{kHeader, "aws:kms"}, {"x-amz-server-side-encryption-context", context}},
        "x"};
  };
  EXPECT_EQ(Outcome(with("eyJhIjoiYiJ9")), "200 ");  // {"a":"b"}
  EXPECT_EQ(objects::ReadEnvelope(store_->Head("bkt", "k")->envelope)->context, R"({"a":"b"})");
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "x");
  EXPECT_EQ(Outcome(with("nonsense")), "400 InvalidArgument");
  EXPECT_EQ(Outcome(with("eyJhIjoxfQ==")), "400 InvalidArgument");  // {"a":1}
}

TEST_F(EncryptionTest, WhatIsNotDoneIsRefusedByName) {
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{kHeader, "aws:kms:dsse"}}, "x"}), "501 NotImplemented");
  EXPECT_EQ(
      Outcome(
          {"PUT", "/bkt/k", {{"x-amz-server-side-encryption-customer-algorithm", "AES256"}}, "x"}),
      "501 NotImplemented");
  EXPECT_EQ(Outcome({"PUT", "/bkt?encryption", {}, Default("aws:kms:dsse")}), "501 NotImplemented");
}

TEST_F(EncryptionTest, ABucketsDefaultHoldsForWhoSaysNothing) {
  EXPECT_EQ(Outcome({"GET", "/bkt?encryption"}),
            "404 ServerSideEncryptionConfigurationNotFoundError");
  EXPECT_EQ(Outcome({"PUT", "/bkt?encryption", {}, Default("AES256")}), "200 ");
  EXPECT_THAT(Do({"GET", "/bkt?encryption"}).body,
              HasSubstr("<SSEAlgorithm>AES256</SSEAlgorithm>"));
  EXPECT_EQ(Do({"PUT", "/bkt/k", {}, "a default secret"}).headers.Get(kHeader), "AES256");
  EXPECT_FALSE(LiesPlain("a default secret"));
  EXPECT_EQ(Do({"PUT", "/bkt/k2", {{kHeader, "aws:kms"}}, "x"}).headers.Get(kHeader), "aws:kms");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?encryption"}), "204 ");
  EXPECT_FALSE(Do({"PUT", "/bkt/k3", {}, "x"}).headers.Has(kHeader));
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "a default secret");
  EXPECT_EQ(Outcome({"PUT", "/bkt?encryption", {}, Default("ROT13")}), "400 MalformedXML");
  EXPECT_EQ(
      Outcome(
          {"PUT", "/bkt?encryption", {}, Default("AES256", "<KMSMasterKeyID>x</KMSMasterKeyID>")}),
      "400 InvalidArgument");
}

TEST_F(EncryptionTest, PartsAreSealedOneByOneAndReadAsOne) {
  const std::string one(5 << 20, 'a'), two = Long();
  for (const std::string algorithm : {"AES256", "aws:kms"}) {
    const std::string begun = Do({"POST", "/bkt/k?uploads", {{kHeader, algorithm}}}).body;
    const std::string id = Between(begun, "<UploadId>", "</UploadId>");
    std::string list;
    for (const auto& [number, content] : {std::pair(2, &one), std::pair(7, &two)}) {
      const auto part =
          Do({"PUT", fmt::format("/bkt/k?partNumber={}&uploadId={}", number, id), {}, *content});
      EXPECT_EQ(part.headers.Get(kHeader), algorithm);
      list += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", number,
                          part.headers.Get("etag"));
    }
    EXPECT_FALSE(LiesPlain("aaaaaaaa"));
    EXPECT_EQ(Outcome({"POST",
                       "/bkt/k?uploadId=" + id,
                       {},
                       "<CompleteMultipartUpload>" + list + "</CompleteMultipartUpload>"}),
              "200 ");
    EXPECT_EQ(Do({"GET", "/bkt/k"}).body, one + two);
    EXPECT_EQ(Do({"GET", "/bkt/k?partNumber=2"}).body, two);
    EXPECT_EQ(Do({"GET", "/bkt/k", {{"Range", "bytes=5242870-5242890"}}}).body,
              (one + two).substr(5242870, 21));
    EXPECT_FALSE(LiesPlain("of a secret"));
  }
}

TEST_F(EncryptionTest, CopiesAreSealedAsTheyAreAsked) {
  ASSERT_EQ(Outcome({"PUT", "/bkt/plain", {}, "copied secret"}), "200 ");
  const auto copy = [&](const std::string& from, const std::string& to,
                        std::vector<std::pair<std::string, std::string>> headers) {
    headers.emplace_back("x-amz-copy-source", "/bkt/" + from);
    return Do({"PUT", "/bkt/" + to, headers});
  };
  EXPECT_EQ(copy("plain", "sealed", {{kHeader, "AES256"}}).headers.Get(kHeader), "AES256");
  EXPECT_EQ(copy("sealed", "again", {}).headers.Get(kHeader), "AES256");
  EXPECT_EQ(copy("sealed", "kms", {{kHeader, "aws:kms"}}).headers.Get(kHeader), "aws:kms");
  ASSERT_TRUE(store_->Delete("bkt", "plain"));
  for (const char* key : {"sealed", "again", "kms"}) {
    EXPECT_EQ(Do({"GET", std::string("/bkt/") + key}).body, "copied secret") << key;
  }
  // One way of sealing, one file under two names; another way, another file.
  EXPECT_EQ(store_->Head("bkt", "sealed")->envelope, store_->Head("bkt", "again")->envelope);
  EXPECT_NE(store_->Head("bkt", "sealed")->envelope, store_->Head("bkt", "kms")->envelope);
}

TEST_F(EncryptionTest, OldKeysStillOpen) {
  ASSERT_EQ(Outcome({"PUT", "/bkt/old", {{kHeader, "AES256"}}, "old"}), "200 ");
  clock_.Advance(Seconds(1));
  ASSERT_TRUE(store_->keys().Create(objects::kS3Keys));
  ASSERT_EQ(Outcome({"PUT", "/bkt/new", {{kHeader, "AES256"}}, "new"}), "200 ");
  EXPECT_EQ(Do({"GET", "/bkt/old"}).body, "old");
  EXPECT_EQ(Do({"GET", "/bkt/new"}).body, "new");
}

TEST_F(EncryptionTest, DamageIsAnErrorNotOtherBytes) {
  ASSERT_EQ(Outcome({"PUT", "/bkt/k", {{kHeader, "AES256"}}, "fragile"}), "200 ");
  const env::Path blob = store_->BlobPath(*store_->Head("bkt", "k"));
  std::filesystem::permissions(blob, std::filesystem::perms::owner_all);
  {
    std::fstream file(blob, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(40);
    file << '!';
  }
  EXPECT_EQ(Outcome({"GET", "/bkt/k"}), "500 InternalError");
}

TEST_F(EncryptionTest, WhatWasNeverEncryptedDoesNotSaySo) {
  ASSERT_TRUE(Put("bkt", "early", "plain", {.metadata = {{kHeader, "aws:kms"}}}));
  EXPECT_FALSE(Do({"GET", "/bkt/early"}).headers.Has(kHeader));
}

}  // namespace
}  // namespace sabia::s3
