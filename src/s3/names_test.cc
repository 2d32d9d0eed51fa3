#include "s3/names.h"

#include <gtest/gtest.h>

namespace sabia::s3 {
namespace {

std::string Target(std::string_view path, std::string_view host = "127.0.0.1:9000") {
  const auto target = ParseTarget(path, host);
  return target ? target->bucket + "|" + target->key : target.error().code;
}

TEST(S3Names, PathStyle) {
  EXPECT_EQ(Target("/"), "|");
  EXPECT_EQ(Target("/b"), "b|");
  EXPECT_EQ(Target("/b/"), "b|");
  EXPECT_EQ(Target("/b/k"), "b|k");
  EXPECT_EQ(Target("/b//k//"), "b|/k//");
  EXPECT_EQ(Target("/b/../../etc"), "b|../../etc");
  EXPECT_EQ(Target("/b/%2E%2E%2Fx"), "b|../x");
  EXPECT_EQ(Target("/b/a+b%20c%25"), "b|a+b c%");
  EXPECT_EQ(Target("//k"), "InvalidBucketName");
  EXPECT_EQ(Target("/b/%zz"), "InvalidURI");
  EXPECT_EQ(Target("b"), "InvalidURI");
}

TEST(S3Names, VirtualHosts) {
  EXPECT_EQ(Target("/k", "bkt.localhost:9000"), "bkt|k");
  EXPECT_EQ(Target("/", "bkt.localhost"), "bkt|");
  EXPECT_EQ(Target("/b/k", "localhost:9000"), "b|k");
  EXPECT_EQ(Target("/b/k", "s3.localhost:9000"), "b|k");
  EXPECT_EQ(Target("/k", "a.b.s3.localhost"), "a.b|k");
  EXPECT_EQ(Target("/k", "a.b.s3.us-west-2.amazonaws.com"), "a.b|k");
  EXPECT_EQ(Target("/k", "x.s3.y.s3.amazonaws.com"), "x.s3.y|k");
  EXPECT_EQ(Target("/b/k", "s3.us-west-2.amazonaws.com"), "b|k");
  EXPECT_EQ(Target("/b/k", "sabia.example.com"), "b|k") << "an unknown name is ours, not a bucket";
  EXPECT_EQ(Target("/b/k", ""), "b|k");
}

TEST(S3Names, LegalBucketNames) {
  for (const char* good : {"abc", "a-b.c", "123", "sagemaker-us-west-2-123456789012", "1.2.3"}) {
    EXPECT_TRUE(IsLegalBucketName(good)) << good;
  }
  EXPECT_TRUE(IsLegalBucketName(std::string(63, 'a')));
  EXPECT_FALSE(IsLegalBucketName(std::string(64, 'a')));
  for (const char* bad : {"", "ab", "Abc", "a_b", "-abc", "abc-", ".abc", "a..b", "192.168.0.1",
                          "xn--abc", "abc-s3alias", "a/b", "../x", "a b"}) {
    EXPECT_FALSE(IsLegalBucketName(bad)) << bad;
  }
}

TEST(S3Names, CopySources) {
  const auto parse = [](std::string_view header) {
    const auto source = ParseCopySource(header);
    if (!source) return source.error().code;
    return source->target.bucket + "|" + source->target.key +
           (source->version ? "|" + *source->version : "");
  };
  EXPECT_EQ(parse("b/k"), "b|k");
  EXPECT_EQ(parse("/b/k%20l/+"), "b|k l/+");
  EXPECT_EQ(parse("b/k%3Fx?versionId=null"), "b|k?x|null");
  EXPECT_EQ(parse("b/k?versionId=abc"), "b|k|abc");
  EXPECT_EQ(parse("b/k?acl"), "InvalidArgument");
  EXPECT_EQ(parse("b"), "InvalidArgument");
  EXPECT_EQ(parse("/b/"), "InvalidArgument");
  EXPECT_EQ(parse(""), "InvalidArgument");
  EXPECT_EQ(parse("b/%4"), "InvalidArgument");
  EXPECT_EQ(parse("arn:aws:s3:us-west-2:1:accesspoint/x/object/k"), "NotImplemented");
}

}  // namespace
}  // namespace sabia::s3
