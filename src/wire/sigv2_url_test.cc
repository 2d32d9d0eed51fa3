#include "wire/sigv2_url.h"

#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

const AccessKey kRoot{"AKIAROOTROOTROOTROOT", "a-secret-of-forty-characters-0123456789x"};
const WallTime kNow = FromUnixMillis(1'700'000'000'000);

// "" or the problem's S3 code.
std::string Outcome(const std::string& method, const std::string& path, const std::string& query,
                    WallTime now = kNow) {
  RequestHead head;
  head.method = method;
  head.raw_path = path;
  head.raw_query = query;
  const CredentialAuthority authority(kRoot, "123456789012");
  const auto parameters = QueryParameters::Parse(query);
  EXPECT_TRUE(parameters && IsSigV2Url(*parameters));
  const auto principal = VerifySigV2Url(head, *parameters, authority, now);
  return principal ? "" : ToAwsError(principal.error(), ErrorFamily::kS3).code;
}

// The signatures were made with botocore.
constexpr const char* kGet =
    "AWSAccessKeyId=AKIAROOTROOTROOTROOT&Signature=b8SSlK6QHVReuvQmfqzpmiaT%2FUA%3D&Expires="
    "1700003600";

TEST(SigV2Url, AcceptsWhatBotocoreSigns) {
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", kGet), "");
  EXPECT_EQ(Outcome("GET", "/bkt/k",
                    "versionId=null&response-content-type=a%2Fb&AWSAccessKeyId=AKIAROOTROOTROOTROOT"
                    "&Signature=dlVm7wfH5xwLBoOg%2FaXS%2FMAck64%3D&Expires=1700003600"),
            "");
  EXPECT_EQ(Outcome("PUT", "/bkt/k",
                    "AWSAccessKeyId=AKIAROOTROOTROOTROOT&Signature=UjKACZsnkkUcOJriRp3qn%2BjeMXQ%3D"
                    "&content-type=text%2Fplain&x-amz-meta-a=1&Expires=1700003600"),
            "");
}

TEST(SigV2Url, RefusesEverythingElse) {
  const std::string get = kGet;
  EXPECT_EQ(Outcome("PUT", "/bkt/a%20b", get), "SignatureDoesNotMatch");
  EXPECT_EQ(Outcome("GET", "/bkt/b", get), "SignatureDoesNotMatch");
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", get + "&acl"), "SignatureDoesNotMatch");
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", get + "&x-amz-meta-b=1"), "SignatureDoesNotMatch");
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", get + "&attributes"), "AuthorizationQueryParametersError");
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", get, kNow + Seconds{3601}), "AccessDenied");
  EXPECT_EQ(Outcome("GET", "/bkt/a%20b", "AWSAccessKeyId=AKIAROOTROOTROOTROOT&Signature=x"),
            "AuthorizationQueryParametersError");
  EXPECT_EQ(
      Outcome("GET", "/bkt/a%20b", "AWSAccessKeyId=AKIANOBODY&Signature=x&Expires=1700003600"),
      "InvalidAccessKeyId");
}

}  // namespace
}  // namespace sabia::wire
