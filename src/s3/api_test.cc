#include "s3/api.h"

#include <gmock/gmock.h>

#include "base/encoding.h"
#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class S3ApiTest : public testing::S3Fixture {
 protected:
  void PutKeys(std::initializer_list<const char*> keys) {
    for (const char* key : keys) ASSERT_TRUE(Put("bkt", key, "x"));
  }
};

TEST_F(S3ApiTest, Buckets) {
  const std::string location =
      "<CreateBucketConfiguration><LocationConstraint>us-west-2</LocationConstraint>"
      "</CreateBucketConfiguration>";
  EXPECT_EQ(Outcome({"PUT", "/new", {}, location}), "200 ");
  EXPECT_EQ(Outcome({"PUT", "/new", {}, location}), "409 BucketAlreadyOwnedByYou");
  EXPECT_EQ(Outcome({"PUT", "/new2"}), "400 IllegalLocationConstraintException");
  EXPECT_EQ(Outcome({"PUT", "/No", {}, location}), "400 InvalidBucketName");
  EXPECT_EQ(Outcome({"PUT", "/new3", {}, "<broken"}), "400 MalformedXML");
  EXPECT_EQ(Do({"HEAD", "/new"}).headers.Get("x-amz-bucket-region"), "us-west-2");
  EXPECT_EQ(Do({"HEAD", "/none"}).status, 404U);
  EXPECT_THAT(Do({"HEAD", "/none"}).body, IsEmpty());
  EXPECT_THAT(Do({"GET", "/"}).body,
              HasSubstr("<Bucket><Name>bkt</Name><CreationDate>2023-11-14T22:13:20.000Z"
                        "</CreationDate><BucketRegion>us-west-2</BucketRegion></Bucket>"
                        "<Bucket><Name>new</Name>"));
  PutKeys({"k"});
  EXPECT_EQ(Outcome({"DELETE", "/bkt"}), "409 BucketNotEmpty");
  EXPECT_EQ(Outcome({"DELETE", "/new"}), "204 ");
  EXPECT_EQ(Outcome({"DELETE", "/new"}), "404 NoSuchBucket");
}

TEST_F(S3ApiTest, TheOldestRegionIsPeculiar) {
  context_.region = "us-east-1";
  EXPECT_EQ(Outcome({"PUT", "/new"}), "200 ");
  EXPECT_EQ(Outcome({"PUT", "/new"}), "200 ");
  EXPECT_THAT(Do({"GET", "/new?location"}).body, HasSubstr("2006-03-01/\"></LocationConstraint>"));
  EXPECT_THAT(Do({"GET", "/bkt?location"}).body, HasSubstr(">us-west-2</LocationConstraint>"));
  ASSERT_TRUE(store_->CreateBucket("odd", "<&>"));
  EXPECT_THAT(Do({"GET", "/odd?location"}).body, HasSubstr(">&lt;&amp;&gt;</LocationConstraint>"));
}

TEST_F(S3ApiTest, BucketsAreListedInPages) {
  ASSERT_TRUE(store_->CreateBucket("bkt2", "eu-west-1"));
  const std::string first = Do({"GET", "/?max-buckets=1"}).body;
  EXPECT_THAT(first, HasSubstr("<Name>bkt</Name>"));
  EXPECT_THAT(first, Not(HasSubstr("bkt2")));
  const std::string token = Between(first, "<ContinuationToken>", "</ContinuationToken>");
  const std::string second = Do({"GET", "/?continuation-token=" + UriEncode(token)}).body;
  EXPECT_THAT(second, HasSubstr("<Name>bkt2</Name>"));
  EXPECT_THAT(second, Not(HasSubstr("ContinuationToken")));
  EXPECT_THAT(Do({"GET", "/?bucket-region=eu-west-1"}).body, Not(HasSubstr("<Name>bkt</Name>")));
  EXPECT_EQ(Outcome({"GET", "/?continuation-token=%21"}), "400 InvalidArgument");
}

TEST_F(S3ApiTest, PutAndGet) {
  const auto put = Do({"PUT",
                       "/bkt/dir/k%20+",
                       {{"Content-Type", "text/x"},
                        {"x-amz-meta-Color", "red"},
                        {"Content-Encoding", "aws-chunked,gzip"},
                        {"x-amz-server-side-encryption", "AES256"},
                        {"x-amz-checksum-crc32", "NhCmhg=="},
                        {"x-amz-sdk-checksum-algorithm", "CRC32"},
                        {"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}},
                       "hello"});
  EXPECT_EQ(put.status, 200U) << put.body;
  EXPECT_EQ(put.headers.Get("etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(put.headers.Get("x-amz-checksum-crc32"), "NhCmhg==");
  EXPECT_EQ(put.headers.Get("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(put.headers.Get("x-amz-request-id"), "REQUEST");

  const auto get = Do({"GET", "/bkt/dir/k%20+", {{"x-amz-checksum-mode", "ENABLED"}}});
  EXPECT_EQ(get.status, 200U);
  EXPECT_EQ(get.body, "hello");
  EXPECT_EQ(get.headers.Get("content-type"), "text/x");
  EXPECT_EQ(get.headers.Get("content-encoding"), "gzip");
  EXPECT_EQ(get.headers.Get("x-amz-meta-color"), "red");
  EXPECT_EQ(get.headers.Get("accept-ranges"), "bytes");
  EXPECT_EQ(get.headers.Get("x-amz-checksum-crc32"), "NhCmhg==");
  EXPECT_EQ(get.headers.Get("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(get.headers.Get("last-modified"), "Tue, 14 Nov 2023 22:13:20 GMT");
  EXPECT_FALSE(Do({"GET", "/bkt/dir/k%20+"}).headers.Has("x-amz-checksum-crc32"));

  const auto head = Do({"HEAD", "/bkt/dir/k%20+"});
  EXPECT_EQ(head.status, 200U);
  EXPECT_THAT(head.body, IsEmpty());
  EXPECT_EQ(promised_, 5U);
}

TEST_F(S3ApiTest, WrongClaimsAreRefusedAndLeaveNothing) {
  const std::string target = "/bkt/k";
  EXPECT_EQ(Outcome({"PUT", target, {{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}, "hello"}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"PUT", target, {{"Content-MD5", "short"}}, "hello"}), "400 InvalidDigest");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-checksum-crc32", "AAAAAA=="}}, "hello"}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-checksum-sha256", "AAAAAA=="}}, "hello"}),
            "400 InvalidRequest");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-sdk-checksum-algorithm", "CRC32"}}, "hello"}),
            "400 InvalidRequest");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-tagging", "a=b&a=c"}}, "hello"}),
            "400 InvalidArgument");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-storage-class", "GLACIER"}}, "hello"}),
            "501 NotImplemented");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-storage-class", "COLD"}}, "hello"}),
            "400 InvalidStorageClass");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-website-redirect-location", "x"}}, "hello"}),
            "400 InvalidRedirectLocation");
  EXPECT_EQ(Outcome({"PUT", "/none/k", {}, "hello"}), "404 NoSuchBucket");
  EXPECT_EQ(Outcome({"PUT", "/bkt/" + std::string(1025, 'k'), {}, ""}), "400 KeyTooLongError");
  EXPECT_EQ(Outcome({"PUT", "/bkt/%FF", {}, ""}), "400 InvalidURI");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-meta-a", "\xFF"}}, ""}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-meta-a", std::string(2048, 'm')}}, ""}),
            "400 MetadataTooLarge");
  EXPECT_EQ(Outcome({"GET", target}), "404 NoSuchKey");
  EXPECT_EQ(BlobFiles(), 0U);
}

TEST_F(S3ApiTest, ABodyThatFailsLateLeavesNothing) {
  testing::FakeS3Body body("hello");
  body.failure = Error{ErrorCode::kDenied, "the hash differs"};
  const auto response = Do({"PUT", "/bkt/k"}, body);
  EXPECT_THAT(response.body, HasSubstr("<Code>XAmzContentSHA256Mismatch</Code>"));
  testing::FakeS3Body cut("hel");
  cut.announced = 5;
  EXPECT_THAT(Do({"PUT", "/bkt/k"}, cut).body, HasSubstr("IncompleteBody"));
  testing::FakeS3Body huge("");
  huge.announced = kSinglePutBytesMax + 1;
  EXPECT_THAT(Do({"PUT", "/bkt/k"}, huge).body, HasSubstr("EntityTooLarge"));
  EXPECT_EQ(BlobFiles(), 0U);
}

TEST_F(S3ApiTest, ChecksumsInTrailersAreCompared) {
  const testing::S3Request request{"PUT", "/bkt/k", {{"x-amz-trailer", "x-amz-checksum-crc32"}}};
  testing::FakeS3Body good("hello");
  good.trailing.Add("x-amz-checksum-crc32", "NhCmhg==");
  EXPECT_EQ(Do(request, good).status, 200U);
  testing::FakeS3Body bad("hello");
  bad.trailing.Add("x-amz-checksum-crc32", "AAAAAA==");
  EXPECT_THAT(Do(request, bad).body, HasSubstr("BadDigest"));
  testing::FakeS3Body none("hello");
  EXPECT_THAT(Do(request, none).body, HasSubstr("MalformedTrailerError"));
}

TEST_F(S3ApiTest, PresignedUrlsMayCarryHeadersAsParameters) {
  EXPECT_EQ(Outcome({"PUT", "/bkt/k?X-Amz-Signature=0&X-Amz-Date=1&x-amz-meta-a=1", {}, "x"}),
            "200 ");
  EXPECT_EQ(store_->Head("bkt", "k")->metadata, (Metadata{{"x-amz-meta-a", "1"}}));
  EXPECT_EQ(Outcome({"PUT", "/bkt/k?x-amz-checksum-crc32=AAAAAA%3D%3D", {}, "hello"}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k?x-amz-acl=public-read", {}, "x"}),
            "400 AccessControlListNotSupported");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?x-amz-expected-bucket-owner=1"}), "403 AccessDenied");
}

TEST_F(S3ApiTest, Ranges) {
  ASSERT_TRUE(Put("bkt", "k", "0123456789"));
  const auto part =
      Do({"GET", "/bkt/k", {{"Range", "bytes=2-4"}, {"x-amz-checksum-mode", "ENABLED"}}});
  EXPECT_EQ(part.status, 206U);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.headers.Get("content-range"), "bytes 2-4/10");
  EXPECT_FALSE(part.headers.Has("x-amz-checksum-crc32"));
  EXPECT_EQ(Do({"GET", "/bkt/k", {{"Range", "bytes=-2"}}}).body, "89");
  const auto beyond = Do({"GET", "/bkt/k", {{"Range", "bytes=10-"}}});
  EXPECT_EQ(beyond.status, 416U);
  EXPECT_THAT(beyond.body, HasSubstr("<ActualObjectSize>10</ActualObjectSize>"));
  EXPECT_EQ(Do({"HEAD", "/bkt/k", {{"Range", "bytes=0-0"}}}).status, 206U);
  EXPECT_EQ(promised_, 1U);
}

TEST_F(S3ApiTest, ConditionsOnReads) {
  ASSERT_TRUE(Put("bkt", "k", "hello"));
  const std::string etag = "\"5d41402abc4b2a76b9719d911017c592\"";
  const auto same = Do({"GET", "/bkt/k", {{"If-None-Match", etag}}});
  EXPECT_EQ(same.status, 304U);
  EXPECT_EQ(same.headers.Get("etag"), etag);
  EXPECT_THAT(same.body, IsEmpty());
  EXPECT_EQ(Outcome({"GET", "/bkt/k", {{"If-Match", "\"no\""}}}), "412 PreconditionFailed");
  EXPECT_EQ(Do({"GET", "/bkt/k", {{"If-Modified-Since", "Tue, 14 Nov 2023 22:13:20 GMT"}}}).status,
            304U);
  EXPECT_EQ(Do({"GET", "/bkt/k", {{"If-Modified-Since", "nonsense"}}}).status, 200U);
}

TEST_F(S3ApiTest, ConditionsOnWrites) {
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{"If-None-Match", "*"}}, "1"}), "200 ");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{"If-None-Match", "*"}}, "2"}), "412 PreconditionFailed");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{"If-None-Match", "\"e\""}}, "2"}), "501 NotImplemented");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{"If-Match", "\"e\""}}, "2"}), "412 PreconditionFailed");
  EXPECT_EQ(Outcome({"PUT", "/bkt/none", {{"If-Match", "\"e\""}}, "2"}), "404 NoSuchKey");
  EXPECT_EQ(Outcome({"DELETE", "/bkt/k", {{"If-Match", "\"e\""}}}), "412 PreconditionFailed");
  EXPECT_EQ(Read("bkt", "k"), "1");
  EXPECT_EQ(Outcome({"DELETE", "/bkt/k", {{"If-Match", "*"}}}), "204 ");
}

TEST_F(S3ApiTest, OverridesChangeHeadersAndCannotInjectThem) {
  ASSERT_TRUE(Put("bkt", "k", "x", {.metadata = {{"content-type", "a/b"}}}));
  const auto get = Do({"GET", "/bkt/k?response-content-type=c%2Fd&response-expires=never"});
  EXPECT_EQ(get.headers.Get("content-type"), "c/d");
  EXPECT_EQ(get.headers.Get("expires"), "never");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?response-content-type=a%0D%0ASet-Cookie:x"}),
            "400 InvalidArgument");
}

TEST_F(S3ApiTest, StrangersAndOtherOwnersAreDenied) {
  PutKeys({"k"});
  EXPECT_EQ(Outcome({"GET", "/bkt/k", {{"x-amz-expected-bucket-owner", "123456789012"}}}), "200 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/k", {{"x-amz-expected-bucket-owner", "000000000000"}}}),
            "403 AccessDenied");
  context_.principal.anonymous = true;
  EXPECT_EQ(Outcome({"GET", "/bkt/k"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/"}), "403 AccessDenied");
  EXPECT_EQ(Do({"HEAD", "/bkt"}).status, 403U);
}

TEST_F(S3ApiTest, Copies) {
  ASSERT_TRUE(Put("bkt", "a b", "bytes", {.metadata = {{"x-amz-meta-a", "1"}}}));
  const auto copied = Do({"PUT", "/bkt/to", {{"x-amz-copy-source", "/bkt/a%20b"}}});
  EXPECT_EQ(copied.status, 200U);
  EXPECT_THAT(copied.body, HasSubstr("<CopyObjectResult"));
  EXPECT_EQ(store_->Head("bkt", "to")->metadata.at("x-amz-meta-a"), "1");
  EXPECT_EQ(Outcome({"PUT", "/bkt/to", {{"x-amz-copy-source", "bkt/to"}}}), "400 InvalidRequest");
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt/to",
                     {{"x-amz-copy-source", "bkt/to"},
                      {"x-amz-metadata-directive", "REPLACE"},
                      {"x-amz-meta-b", "2"}}}),
            "200 ");
  EXPECT_EQ(store_->Head("bkt", "to")->metadata, (Metadata{{"x-amz-meta-b", "2"}}));
  EXPECT_EQ(Outcome({"PUT", "/bkt/to", {{"x-amz-copy-source", "bkt/none"}}}), "404 NoSuchKey");
  EXPECT_EQ(Outcome({"PUT", "/bkt/to", {{"x-amz-copy-source", "none/k"}}}), "404 NoSuchBucket");
  EXPECT_EQ(
      Outcome({"PUT",
               "/bkt/to",
               {{"x-amz-copy-source", "bkt/a%20b"}, {"x-amz-copy-source-if-match", "\"no\""}}}),
      "412 PreconditionFailed");
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt/to",
                     {{"x-amz-copy-source", "bkt/a%20b"}, {"x-amz-checksum-algorithm", "SHA256"}}}),
            "200 ");
  EXPECT_TRUE(store_->Head("bkt", "to")->checksums.contains("sha256"));
  EXPECT_EQ(Read("bkt", "to"), "bytes");
}

TEST_F(S3ApiTest, DeletesManyAndSaysWhatItDid) {
  PutKeys({"a", "b", "c&d"});
  const std::string body =
      "<Delete><Object><Key>a</Key></Object><Object><Key>c&amp;d</Key></Object>"
      "<Object><Key>none</Key></Object><Object><Key>b</Key><VersionId>v</VersionId></Object></"
      "Delete>";
  const auto response = Do({"POST", "/bkt?delete", {}, body});
  EXPECT_EQ(response.status, 200U);
  EXPECT_THAT(response.body, HasSubstr("<Deleted><Key>c&amp;d</Key></Deleted>"));
  EXPECT_THAT(response.body, HasSubstr("<Deleted><Key>none</Key></Deleted>"));
  EXPECT_THAT(response.body,
              HasSubstr("<Error><Key>b</Key><VersionId>v</VersionId><Code>NoSuchVersion</Code>"));
  EXPECT_EQ(Read("bkt", "b"), "x");
  const auto quiet = Do({"POST",
                         "/bkt?delete",
                         {},
                         "<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>"});
  EXPECT_THAT(quiet.body, Not(HasSubstr("Deleted")));
  EXPECT_EQ(Outcome({"GET", "/bkt/b"}), "404 NoSuchKey");
  EXPECT_EQ(Outcome({"POST", "/bkt?delete", {}, "<Delete/>"}), "400 MalformedXML");
  EXPECT_EQ(Outcome({"POST", "/bkt?delete", {{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}, body}),
            "400 BadDigest");
  EXPECT_EQ(Outcome({"POST", "/none?delete", {}, body}), "404 NoSuchBucket");
}

TEST_F(S3ApiTest, ListV2Golden) {
  PutKeys({"a b", "p/1", "p/2", "q"});
  EXPECT_EQ(Do({"GET", "/bkt?list-type=2&delimiter=%2F&encoding-type=url&max-keys=2"}).body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bkt</Name>"
            "<Prefix></Prefix><Delimiter>/</Delimiter><MaxKeys>2</MaxKeys><EncodingType>url</"
            "EncodingType>"
            "<IsTruncated>true</IsTruncated><KeyCount>2</KeyCount>"
            "<NextContinuationToken>MXAv</NextContinuationToken><Contents><Key>a%20b</Key>"
            "<LastModified>2023-11-14T22:13:20.000Z</LastModified>"
            "<ETag>&quot;9dd4e461268c8034f5c8564e155c67a6&quot;</ETag>"
            "<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>"
            "<Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"
            "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>");
  const std::string next =
      Do({"GET", "/bkt?list-type=2&delimiter=%2F&continuation-token=MXAv&fetch-owner=true"}).body;
  EXPECT_THAT(next, HasSubstr("<Key>q</Key>"));
  EXPECT_THAT(next, HasSubstr("<Owner><ID>"));
  EXPECT_THAT(next, Not(HasSubstr("<Prefix>p/</Prefix>")));
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2&continuation-token=AAAA"}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2&max-keys=-1"}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2&encoding-type=rot13"}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2&prefix=%FF"}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/none?list-type=2"}), "404 NoSuchBucket");
}

TEST_F(S3ApiTest, ListV1HasMarkers) {
  PutKeys({"a", "p/1", "q"});
  const std::string first = Do({"GET", "/bkt?delimiter=%2F&max-keys=2"}).body;
  EXPECT_THAT(first, HasSubstr("<NextMarker>p/</NextMarker>"));
  const std::string second = Do({"GET", "/bkt?delimiter=%2F&marker=p%2F"}).body;
  EXPECT_THAT(second, HasSubstr("<Key>q</Key>"));
  EXPECT_THAT(second, HasSubstr("<Marker>p/</Marker>"));
  EXPECT_THAT(second, Not(HasSubstr("CommonPrefixes")));
  EXPECT_THAT(Do({"GET", "/bkt?max-keys=2"}).body, Not(HasSubstr("NextMarker")));
}

TEST_F(S3ApiTest, ErrorDocumentGolden) {
  EXPECT_EQ(Do({"GET", "/bkt/no%26pe"}).body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>"
            "<Key>no&amp;pe</Key><Resource>/bkt/no%26pe</Resource><RequestId>REQUEST</RequestId>"
            "<HostId>REQUEST</HostId></Error>");
}

TEST_F(S3ApiTest, TheRestOfS3IsRefusedByName) {
  const auto refused = Do({"PUT", "/bkt?replication"});
  EXPECT_EQ(refused.status, 501U);
  EXPECT_THAT(refused.body, HasSubstr("PutBucketReplication is not implemented"));
  EXPECT_EQ(Outcome({"DELETE", "/bkt?inventory&id=x"}), "404 NoSuchConfiguration");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?acl"}), "405 MethodNotAllowed");
  EXPECT_EQ(Do({"HEAD", "/bkt"}).status, 200U) << "the bucket must still be there";
  EXPECT_EQ(Outcome({"GET", "/bkt?policy"}), "404 NoSuchBucketPolicy");
  EXPECT_EQ(Outcome({"GET", "/none?policy"}), "404 NoSuchBucket");
  EXPECT_THAT(Do({"GET", "/bkt?versioning"}).body, HasSubstr("<VersioningConfiguration "));
  EXPECT_THAT(Do({"GET", "/bkt?acl"}).body, HasSubstr("<Permission>FULL_CONTROL</Permission>"));
  EXPECT_EQ(Outcome({"GET", "/bkt/k?versionId=abc"}), "400 InvalidArgument");
  EXPECT_THAT(
      Do({"POST", "/bkt", {{"Content-Type", "multipart/form-data; boundary=x"}}, "--x"}).body,
      HasSubstr("PostObject"));
}

TEST_F(S3ApiTest, WhatNoBucketHasIsAnsweredTruthfully) {
  EXPECT_THAT(Do({"GET", "/bkt?logging"}).body, HasSubstr("<BucketLoggingStatus "));
  EXPECT_THAT(Do({"GET", "/bkt?notification"}).body, HasSubstr("<NotificationConfiguration "));
  EXPECT_THAT(Do({"GET", "/bkt?requestPayment"}).body, HasSubstr("<Payer>BucketOwner</Payer>"));
  EXPECT_THAT(Do({"GET", "/bkt?inventory"}).body, HasSubstr("<IsTruncated>false</IsTruncated>"));
  EXPECT_EQ(Outcome({"GET", "/bkt?website"}), "404 NoSuchWebsiteConfiguration");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?website"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?object-lock"}), "404 ObjectLockConfigurationNotFoundError");
  EXPECT_EQ(Outcome({"GET", "/bkt/none?retention"}), "404 NoSuchKey");
  PutKeys({"k"});
  EXPECT_EQ(Outcome({"GET", "/bkt/k?retention"}), "400 InvalidRequest");
  EXPECT_EQ(Outcome({"GET", "/none?logging"}), "404 NoSuchBucket");
}

TEST_F(S3ApiTest, WhatIsNotImplementedCanBeTurnedOffButNotOn) {
  EXPECT_EQ(Outcome({"PUT", "/bkt?notification", {}, "<NotificationConfiguration/>"}), "200 ");
  const auto topic = Do({"PUT",
                         "/bkt?notification",
                         {},
                         "<NotificationConfiguration><TopicConfiguration/>"
                         "</NotificationConfiguration>"});
  EXPECT_EQ(topic.status, 501U);
  EXPECT_THAT(topic.body, HasSubstr("TopicConfiguration of NotificationConfiguration"));
  EXPECT_EQ(Outcome({"PUT", "/bkt?logging", {}, "<BucketLoggingStatus/>"}), "200 ");
  const auto payer = [&](const std::string& who) {
    return Outcome(
        {"PUT",
         "/bkt?requestPayment",
         {},
         "<RequestPaymentConfiguration><Payer>" + who + "</Payer></RequestPaymentConfiguration>"});
  };
  EXPECT_EQ(payer("BucketOwner"), "200 ");
  EXPECT_EQ(payer("Requester"), "501 NotImplemented");
  EXPECT_EQ(payer(""), "400 MalformedXML");
}

TEST_F(S3ApiTest, AttributesOfAnObject) {
  ASSERT_TRUE(Put("bkt", "k", "hello"));
  const auto get = [&](const std::string& attributes) {
    return Do({"GET", "/bkt/k?attributes", {{"x-amz-object-attributes", attributes}}});
  };
  EXPECT_EQ(get("ETag,Checksum,ObjectParts,StorageClass,ObjectSize").body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<GetObjectAttributesResponse xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<ETag>5d41402abc4b2a76b9719d911017c592</ETag><Checksum><ChecksumCRC32>NhCmhg=="
            "</ChecksumCRC32><ChecksumType>FULL_OBJECT</ChecksumType></Checksum>"
            "<StorageClass>STANDARD</StorageClass><ObjectSize>5</ObjectSize>"
            "</GetObjectAttributesResponse>");
  EXPECT_EQ(get("ETag").headers.Get("last-modified"), "Tue, 14 Nov 2023 22:13:20 GMT");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?attributes"}), "400 InvalidRequest");
  EXPECT_EQ(get("Colour").status, 400U);
  EXPECT_EQ(Outcome({"GET", "/bkt/none?attributes", {{"x-amz-object-attributes", "ETag"}}}),
            "404 NoSuchKey");
}

}  // namespace
}  // namespace sabia::s3
