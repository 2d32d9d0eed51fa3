#include "s3/router.h"

#include <gtest/gtest.h>

namespace sabia::s3 {
namespace {

std::string Routed(const std::string& method, const std::string& path,
                   const std::string& query = "", const wire::Headers& headers = {}) {
  static const S3Router kRouter;
  const auto target = ParseTarget(path, "localhost");
  const auto parameters = wire::QueryParameters::Parse(query);
  const auto operation = kRouter.Route({method, *target, headers, *parameters});
  return operation ? std::string((*operation)->name) : operation.error().code;
}

TEST(S3Router, PlainOperations) {
  EXPECT_EQ(Routed("GET", "/"), "ListBuckets");
  EXPECT_EQ(Routed("PUT", "/b"), "CreateBucket");
  EXPECT_EQ(Routed("HEAD", "/b"), "HeadBucket");
  EXPECT_EQ(Routed("DELETE", "/b"), "DeleteBucket");
  EXPECT_EQ(Routed("GET", "/b"), "ListObjects");
  EXPECT_EQ(Routed("GET", "/b", "list-type=2&prefix=x"), "ListObjectsV2");
  EXPECT_EQ(Routed("GET", "/b", "prefix=x&marker=y"), "ListObjects");
  EXPECT_EQ(Routed("POST", "/b", "delete"), "DeleteObjects");
  EXPECT_EQ(Routed("GET", "/b/k"), "GetObject");
  EXPECT_EQ(Routed("GET", "/b/k", "response-content-type=x&partNumber=1"), "GetObject");
  EXPECT_EQ(Routed("GET", "/b/k", "x-id=GetObject&X-Amz-Signature=1"), "GetObject");
  EXPECT_EQ(Routed("HEAD", "/b/k"), "HeadObject");
  EXPECT_EQ(Routed("PUT", "/b/k"), "PutObject");
  EXPECT_EQ(Routed("DELETE", "/b/k"), "DeleteObject");
}

TEST(S3Router, HeadersAndParametersDecide) {
  wire::Headers copy;
  copy.Add("X-Amz-Copy-Source", "a/b");
  EXPECT_EQ(Routed("PUT", "/b/k", "", copy), "CopyObject");
  EXPECT_EQ(Routed("PUT", "/b/k", "partNumber=1&uploadId=u"), "UploadPart");
  EXPECT_EQ(Routed("PUT", "/b/k", "partNumber=1&uploadId=u", copy), "UploadPartCopy");
  EXPECT_EQ(Routed("POST", "/b/k", "uploads"), "CreateMultipartUpload");
  EXPECT_EQ(Routed("POST", "/b/k", "uploadId=u"), "CompleteMultipartUpload");
  EXPECT_EQ(Routed("DELETE", "/b/k", "uploadId=u"), "AbortMultipartUpload");
  EXPECT_EQ(Routed("GET", "/b/k", "uploadId=u"), "ListParts");
  EXPECT_EQ(Routed("GET", "/b", "uploads"), "ListMultipartUploads");
}

TEST(S3Router, SubResourcesAreNamed) {
  EXPECT_EQ(Routed("GET", "/b", "acl"), "GetBucketAcl");
  EXPECT_EQ(Routed("PUT", "/b/k", "tagging"), "PutObjectTagging");
  EXPECT_EQ(Routed("DELETE", "/b", "policy"), "DeleteBucketPolicy");
  EXPECT_EQ(Routed("GET", "/b/k", "attributes"), "GetObjectAttributes");
  EXPECT_EQ(Routed("GET", "/b", "lifecycle"), "GetBucketLifecycleConfiguration");
  EXPECT_EQ(Routed("GET", "/b", "versions"), "ListObjectVersions");
  EXPECT_EQ(Routed("GET", "/b", "analytics"), "ListBucketAnalyticsConfigurations");
  EXPECT_EQ(Routed("GET", "/b", "analytics&id=1"), "GetBucketAnalyticsConfiguration");
}

// A sub-resource with a method it does not have must not become the plain operation.
TEST(S3Router, StraySubResourcesAreRefused) {
  EXPECT_EQ(Routed("DELETE", "/b", "acl"), "MethodNotAllowed");
  EXPECT_EQ(Routed("DELETE", "/b", "versioning"), "MethodNotAllowed");
  EXPECT_EQ(Routed("DELETE", "/b/k", "retention"), "MethodNotAllowed");
  EXPECT_EQ(Routed("PUT", "/b/k", "torrent"), "MethodNotAllowed");
  EXPECT_EQ(Routed("POST", "/b"), "MethodNotAllowed");
  EXPECT_EQ(Routed("DELETE", "/"), "MethodNotAllowed");
  EXPECT_EQ(Routed("PATCH", "/b/k"), "MethodNotAllowed");
}

TEST(S3Router, HeadersThatAreNotHonouredAreRefusedByName) {
  const wire::Operation* put = wire::FindService("s3")->FindOperation("PutObject");
  const auto check = [&](const std::string& name, const std::string& value) {
    wire::Headers headers;
    headers.Add(name, value);
    const auto checked = S3Router().CheckHonoured(*put, headers, {});
    return checked ? "" : checked.error().code;
  };
  EXPECT_EQ(check("Content-Type", "a/b"), "");
  EXPECT_EQ(check("x-amz-meta-anything", "1"), "");
  EXPECT_EQ(check("x-unknown", "1"), "");
  EXPECT_EQ(check("x-amz-storage-class", "STANDARD"), "");
  EXPECT_EQ(check("X-Amz-Storage-Class", "GLACIER"), "");  // judged by its reader
  EXPECT_EQ(check("x-amz-acl", "bucket-owner-full-control"), "");
  EXPECT_EQ(check("x-amz-acl", "public-read"), "AccessControlListNotSupported");
  EXPECT_EQ(check("x-amz-tagging", "a=b"), "");
  EXPECT_EQ(check("x-amz-server-side-encryption", "aws:kms"), "");
  EXPECT_EQ(check("x-amz-server-side-encryption", "rot13"), "NotImplemented");
  EXPECT_EQ(check("x-amz-server-side-encryption-customer-algorithm", "AES256"), "NotImplemented");
  EXPECT_EQ(check("x-amz-object-lock-mode", "GOVERNANCE"), "NotImplemented");
}

}  // namespace
}  // namespace sabia::s3
