#include "wire/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/testing/manual_clock.h"
#include "wire/sigv4_verifier.h"

namespace sabia::wire {
namespace {

// The example key of AWS's documentation, its date, bucket and the signatures printed there.
const AccessKey kExampleKey{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr char kExampleDate[] = "20130524T000000Z";

struct Request {
  std::string method = "GET";
  std::string path = "/";
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string payload_hash{kEmptySha256};
};

RequestHead HeadOf(const Request& request) {
  RequestHead head;
  head.method = request.method;
  head.raw_path = request.path;
  head.raw_query = request.query;
  for (const auto& [name, value] : request.fields) head.headers.Add(name, value);
  return head;
}

class SigV4Test : public ::testing::Test {
 protected:
  SigV4Test() : clock_(*ParseBasicIso8601(kExampleDate)) {}

  AuthResult<VerifiedSignature> Verify(const Request& request) {
    const RequestHead head = HeadOf(request);
    const auto query = QueryParameters::Parse(head.raw_query);
    auto claim = ParseClaim(head, *query);
    if (!claim) return tl::make_unexpected(claim.error());
    if (!*claim) return NotAuthentic(AuthProblem::kMissing);
    return verifier_.Verify(head, **claim, request.payload_hash);
  }
  AuthProblem ProblemOf(const Request& request) {
    const auto verified = Verify(request);
    EXPECT_FALSE(verified);
    return verified ? AuthProblem::kMissing : verified.error().problem;
  }

  env::ManualClock clock_;
  CredentialAuthority authority_{kExampleKey, "123456789012"};
  SigV4Verifier verifier_{authority_, clock_};
};

std::string Authorization(const std::string& fields, const std::string& signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
         "SignedHeaders=" +
         fields + ",Signature=" + signature;
}

Request GetObject() {
  return {.path = "/test.txt",
          .fields = {
              {"Host", "examplebucket.s3.amazonaws.com"},
              {"Authorization",
               Authorization("host;range;x-amz-content-sha256;x-amz-date",
                             "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")},
              {"Range", "bytes=0-9"},
              {"x-amz-content-sha256", std::string(kEmptySha256)},
              {"x-amz-date", kExampleDate}}};
}

TEST_F(SigV4Test, AcceptsTheDocumentedGetObject) {
  const auto verified = Verify(GetObject());
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->principal.arn, "arn:aws:iam::123456789012:root");
}

TEST_F(SigV4Test, AcceptsTheDocumentedPutObject) {
  const std::string hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  EXPECT_TRUE(
      Verify({.method = "PUT",
              .path = "/test$file.text",  // the canonical form escapes what the wire does not
              .fields = {{"Host", "examplebucket.s3.amazonaws.com"},
                         {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                         {"Authorization",
                          Authorization(
                              "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")},
                         {"x-amz-date", kExampleDate},
                         {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                         {"x-amz-content-sha256", hash}},
              .payload_hash = hash}));
}

TEST_F(SigV4Test, AcceptsTheDocumentedSubresourceAndListing) {
  Request lifecycle{
      .query = "lifecycle",
      .fields = {
          {"Host", "examplebucket.s3.amazonaws.com"},
          {"Authorization",
           Authorization("host;x-amz-content-sha256;x-amz-date",
                         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")},
          {"x-amz-date", kExampleDate},
          {"x-amz-content-sha256", std::string(kEmptySha256)}}};
  EXPECT_TRUE(Verify(lifecycle));
  Request listing = lifecycle;
  listing.query = "prefix=J&max-keys=2";
  listing.fields[1].second =
      Authorization("host;x-amz-content-sha256;x-amz-date",
                    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  EXPECT_TRUE(Verify(listing));
}

Request Presigned() {
  return {.path = "/test.txt",
          .query =
              "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F"
              "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
              "X-Amz-SignedHeaders=host&X-Amz-Signature="
              "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
          .fields = {{"Host", "examplebucket.s3.amazonaws.com"}},
          .payload_hash = std::string(kUnsignedPayload)};
}

TEST_F(SigV4Test, AcceptsTheDocumentedPresignedUrlUntilItExpires) {
  EXPECT_TRUE(Verify(Presigned()));
  clock_.Advance(Seconds(86'400));
  EXPECT_TRUE(Verify(Presigned()));
  clock_.Advance(Seconds(1));
  EXPECT_EQ(ProblemOf(Presigned()), AuthProblem::kUrlExpired);
}

TEST_F(SigV4Test, RefusesAPresignedUrlOfTheFarFuture) {
  clock_.Advance(Seconds(-16 * 60));
  EXPECT_EQ(ProblemOf(Presigned()), AuthProblem::kUrlNotYetValid);
}

TEST_F(SigV4Test, RefusesMalformedPresignedUrls) {
  const auto with = [](const std::string& from, const std::string& to) {
    Request request = Presigned();
    const std::size_t at = request.query.find(from);
    EXPECT_NE(at, std::string::npos);
    request.query.replace(at, from.size(), to);
    return request;
  };
  EXPECT_EQ(ProblemOf(with("Expires=86400", "Expires=0")), AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("Expires=86400", "Expires=604801")), AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("Expires=86400", "Expires=-5")), AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("&X-Amz-Expires=86400", "")), AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("HMAC-SHA256", "HMAC-SHA1")), AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("SignedHeaders=host", "SignedHeaders=date")),
            AuthProblem::kUrlMalformed);
  EXPECT_EQ(ProblemOf(with("20130524%2F", "20130525%2F")), AuthProblem::kWrongScope);
  EXPECT_EQ(ProblemOf(with("Expires=86400", "Expires=86401")), AuthProblem::kMismatch);
}

TEST_F(SigV4Test, AnyChangeBreaksTheSignature) {
  Request path = GetObject();
  path.path = "/test.txT";
  EXPECT_EQ(ProblemOf(path), AuthProblem::kMismatch);
  Request range = GetObject();
  range.fields[2].second = "bytes=0-90";
  EXPECT_EQ(ProblemOf(range), AuthProblem::kMismatch);
  Request body = GetObject();
  body.payload_hash = std::string(kUnsignedPayload);
  EXPECT_EQ(ProblemOf(body), AuthProblem::kMismatch);
  Request method = GetObject();
  method.method = "DELETE";
  EXPECT_EQ(ProblemOf(method), AuthProblem::kMismatch);
}

TEST_F(SigV4Test, S3WantsEverySteeringFieldSigned) {
  Request request = GetObject();
  request.fields.emplace_back("X-Amz-Copy-Source", "/other/key");
  EXPECT_EQ(ProblemOf(request), AuthProblem::kUnsignedFields);
}

TEST_F(SigV4Test, RefusesSkewedClocks) {
  clock_.Advance(std::chrono::minutes(15) + Seconds(1));
  const auto late = Verify(GetObject());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().problem, AuthProblem::kTooOld);
  EXPECT_EQ(late.error().message,
            "Signature expired: 20130524T000000Z is now earlier than 20130524T000001Z "
            "(20130524T001501Z - 15 min.)");
  EXPECT_EQ(ToAwsError(late.error(), ErrorFamily::kS3).code, "RequestTimeTooSkewed");
  EXPECT_EQ(ToAwsError(late.error(), ErrorFamily::kJson).code, "InvalidSignatureException");
  clock_.Advance(std::chrono::minutes(-31));
  EXPECT_EQ(ProblemOf(GetObject()), AuthProblem::kTooNew);
}

TEST_F(SigV4Test, NamesWhatTheAuthorizationLacks) {
  const auto with = [](std::string value) {
    Request request = GetObject();
    request.fields[1].second = std::move(value);
    return request;
  };
  EXPECT_EQ(ProblemOf(with("AWS AKIA:sig")), AuthProblem::kUnsupported);
  EXPECT_EQ(ProblemOf(with("AWS4-HMAC-SHA256 ")), AuthProblem::kIncomplete);
  EXPECT_EQ(ProblemOf(with("AWS4-HMAC-SHA256 Credential=a/b/c,SignedHeaders=host,Signature=0")),
            AuthProblem::kIncomplete);
  EXPECT_EQ(ProblemOf(with(Authorization("range", std::string(64, '0')))),
            AuthProblem::kIncomplete);
  EXPECT_EQ(ProblemOf(with(Authorization("host", "short"))), AuthProblem::kIncomplete);
  Request unsigned_request = GetObject();
  unsigned_request.fields.erase(unsigned_request.fields.begin() + 1);
  EXPECT_EQ(ProblemOf(unsigned_request), AuthProblem::kMissing);
}

TEST_F(SigV4Test, RefusesAnUnknownKey) {
  const CredentialAuthority other({"AKIAOTHEROTHEROTHER1", "secret"}, "123456789012");
  SigV4Verifier verifier(other, clock_);
  const RequestHead head = HeadOf(GetObject());
  const auto claim = ParseClaim(head, {});
  const auto verified = verifier.Verify(head, **claim, kEmptySha256);
  ASSERT_FALSE(verified);
  EXPECT_EQ(ToAwsError(verified.error(), ErrorFamily::kS3).code, "InvalidAccessKeyId");
  EXPECT_EQ(ToAwsError(verified.error(), ErrorFamily::kJson).code, "UnrecognizedClientException");
  EXPECT_EQ(ToAwsError(verified.error(), ErrorFamily::kQuery).code, "InvalidClientTokenId");
}

TEST(SigV4, DerivesTheDocumentedKeyAndSignature) {
  const SigV4Scope scope{"20150830", "us-east-1", "iam"};
  const Digest256 key = SigningKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", scope);
  EXPECT_EQ(Hex(key), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
  SignatureClaim claim;
  claim.scope = scope;
  claim.signed_fields = {"content-type", "host", "x-amz-date"};
  Headers headers;
  headers.Add("Host", "iam.amazonaws.com");
  headers.Add("Content-Type", "application/x-www-form-urlencoded;  charset=utf-8");
  headers.Add("X-Amz-Date", "20150830T123600Z");
  const std::string canonical = CanonicalRequest(
      {"GET", "/", "Version=2010-05-08&Action=ListUsers", headers}, claim, kEmptySha256);
  EXPECT_EQ(Hex(HmacSha256(key, StringToSign("20150830T123600Z", scope.ToString(), canonical))),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(SigV4, CanonicalPathsFollowTheService) {
  EXPECT_EQ(CanonicalPath("/a/../b//c", true), "/a/../b//c");
  EXPECT_EQ(CanonicalPath("/a b+c%2Fd%c3%a9~", true), "/a%20b%2Bc%2Fd%C3%A9~");
  EXPECT_EQ(CanonicalPath("/a/./x/../b//c/", false), "/a/b/c/");
  EXPECT_EQ(CanonicalPath("/endpoints/my%20ep/invocations", false),
            "/endpoints/my%2520ep/invocations");
  EXPECT_EQ(CanonicalPath("/../..", false), "/");
}

TEST(SigV4, CanonicalQueriesAreSortedAndEncodedOnce) {
  EXPECT_EQ(CanonicalQuery("b=2&a=1&a=0&acl"), "a=0&a=1&acl=&b=2");
  EXPECT_EQ(CanonicalQuery("p=a%2fb/c+d&&q=%zz"), "p=a%2Fb%2Fc%20d&q=%25zz");
  EXPECT_EQ(CanonicalQuery("X-Amz-Signature=abc&x=1"), "x=1");
}

}  // namespace
}  // namespace sabia::wire
