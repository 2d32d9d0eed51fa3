#include "wire/uri_matcher.h"

#include <gtest/gtest.h>

#include "wire/schema.h"

namespace sabia::wire {
namespace {

std::string Match(std::string_view service, std::string_view request,
                  std::vector<std::pair<std::string, std::string>> headers = {}) {
  const UriMatcher matcher(*FindService(service));
  RequestHead head;
  const auto blank = request.find(' ');
  const auto question = request.find('?');
  head.method = request.substr(0, blank);
  head.raw_path = request.substr(
      blank + 1, question == std::string_view::npos ? question : question - blank - 1);
  if (question != std::string_view::npos) head.raw_query = request.substr(question + 1);
  for (auto& [name, value] : headers) head.headers.Add(name, value);
  const auto query = QueryParameters::Parse(head.raw_query);
  if (!query) return "bad query";
  const auto match = matcher.Match(head, *query);
  if (!match) return match.error().message;
  if (match->operation == nullptr) return "none";
  std::string out(match->operation->name);
  for (const auto& [label, value] : match->labels) out += " " + label + "=" + value;
  return out;
}

TEST(UriMatcher, TellsS3OperationsApart) {
  EXPECT_EQ(Match("s3", "GET /"), "ListBuckets");
  EXPECT_EQ(Match("s3", "GET /b"), "ListObjects Bucket=b");
  EXPECT_EQ(Match("s3", "GET /b/"), "ListObjects Bucket=b");
  EXPECT_EQ(Match("s3", "GET /b?list-type=2&prefix=x"), "ListObjectsV2 Bucket=b");
  EXPECT_EQ(Match("s3", "GET /b?list-type=1"), "ListObjects Bucket=b");
  EXPECT_EQ(Match("s3", "GET /b?location"), "GetBucketLocation Bucket=b");
  EXPECT_EQ(Match("s3", "GET /b?uploads"), "ListMultipartUploads Bucket=b");
  EXPECT_EQ(Match("s3", "PUT /b"), "CreateBucket Bucket=b");
  EXPECT_EQ(Match("s3", "HEAD /b"), "HeadBucket Bucket=b");
  EXPECT_EQ(Match("s3", "DELETE /b"), "DeleteBucket Bucket=b");
  EXPECT_EQ(Match("s3", "POST /b?delete"), "DeleteObjects Bucket=b");
  EXPECT_EQ(Match("s3", "POST /b/k?delete"), "none");
  EXPECT_EQ(Match("s3", "GET /b?lifecycle"), "GetBucketLifecycleConfiguration Bucket=b");
}

TEST(UriMatcher, TellsObjectOperationsApart) {
  EXPECT_EQ(Match("s3", "GET /b/a/b%20c"), "GetObject Bucket=b Key=a/b c");
  EXPECT_EQ(Match("s3", "GET /b//x/"), "GetObject Bucket=b Key=/x/");
  EXPECT_EQ(Match("s3", "PUT /b/k"), "PutObject Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "PUT /b/k?x-id=PutObject"), "PutObject Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "PUT /b/k", {{"X-Amz-Copy-Source", "b/c"}}), "CopyObject Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "PUT /b/k?partNumber=1&uploadId=u"), "UploadPart Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "PUT /b/k?partNumber=1&uploadId=u", {{"x-amz-copy-source", "b/c"}}),
            "UploadPartCopy Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "POST /b/k?uploads"), "CreateMultipartUpload Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "POST /b/k?uploadId=u"), "CompleteMultipartUpload Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "DELETE /b/k?uploadId=u"), "AbortMultipartUpload Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "DELETE /b/k"), "DeleteObject Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "GET /b/k?uploadId=u"), "ListParts Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "GET /b/k?tagging"), "GetObjectTagging Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "GET /b/k?attributes"), "GetObjectAttributes Bucket=b Key=k");
}

TEST(UriMatcher, SubResourcesAreNeverDropped) {
  EXPECT_EQ(Match("s3", "DELETE /b/k?acl"), "none");
  EXPECT_EQ(Match("s3", "DELETE /b?acl"), "none");
  EXPECT_EQ(Match("s3", "PUT /b?uploads"), "none");
  EXPECT_EQ(Match("s3", "PUT /b?analytics"), "PutBucketAnalyticsConfiguration Bucket=b");
  EXPECT_EQ(Match("s3", "DELETE /b/k?versionId=1"), "DeleteObject Bucket=b Key=k");
  EXPECT_EQ(Match("s3", "POST /b/k"), "none");
}

TEST(UriMatcher, MatchesRestJson) {
  EXPECT_EQ(Match("sagemaker-runtime", "POST /endpoints/e-1/invocations"),
            "InvokeEndpoint EndpointName=e-1");
  EXPECT_EQ(Match("sagemaker-runtime", "POST /endpoints/e-1/async-invocations"),
            "InvokeEndpointAsync EndpointName=e-1");
  EXPECT_EQ(Match("sagemaker-runtime", "POST /endpoints/a/b/invocations"), "none");
  EXPECT_EQ(Match("sagemaker-metrics", "PUT /BatchPutMetrics"), "BatchPutMetrics");
  EXPECT_EQ(Match("sagemaker-metrics", "GET /BatchPutMetrics"), "none");
  EXPECT_EQ(Match("sagemaker", "POST /"), "none") << "JSON services are not matched by path";
}

TEST(UriMatcher, OddPathsDoNotMatch) {
  EXPECT_EQ(Match("s3", "PATCH /b/k"), "none");
  EXPECT_EQ(Match("s3", "GET //"), "none");
  EXPECT_EQ(Match("s3", "OPTIONS *"), "none");
  EXPECT_FALSE(Match("s3", "GET /b/%zz").starts_with("GetObject")) << "bad percent-encoding";
  EXPECT_NE(Match("s3", "GET /b/%zz"), "none");
}

}  // namespace
}  // namespace sabia::wire
