#include "wire/s3_uri.h"

#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

TEST(S3Uri, NamesBucketAndKey) {
  const auto where = ParseS3Uri("s3://bucket/some/key with blank%20.csv");
  ASSERT_TRUE(where.has_value());
  EXPECT_EQ(where->bucket, "bucket");
  EXPECT_EQ(where->key, "some/key with blank%20.csv");
}

TEST(S3Uri, KeyMayBeEmpty) {
  EXPECT_EQ(ParseS3Uri("s3://only-bucket")->key, "");
  EXPECT_EQ(ParseS3Uri("s3://only-bucket/")->key, "");
  EXPECT_EQ(ParseS3Uri("s3://only-bucket")->bucket, "only-bucket");
}

TEST(S3Uri, PathStyleHttps) {
  const auto where = ParseS3Uri("https://127.0.0.1:9000/bucket/a/b");
  ASSERT_TRUE(where.has_value());
  EXPECT_EQ(where->bucket, "bucket");
  EXPECT_EQ(where->key, "a/b");
}

TEST(S3Uri, RefusesWhatHasNoBucket) {
  for (const char* bad : {"", "bucket/key", "s3://", "s3:///key", "s3://../x", "s3://UPPER/x",
                          "s3://ab/x", "s3://-ab/x", "file:///etc/passwd", "https://host"}) {
    const auto where = ParseS3Uri(bad);
    ASSERT_FALSE(where.has_value()) << bad;
    EXPECT_EQ(where.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sabia::wire
