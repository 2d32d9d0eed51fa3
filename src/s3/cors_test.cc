#include "s3/cors.h"

#include <gmock/gmock.h>

#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument =
    "<CORSConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><CORSRule><ID>one</ID>"
    "<AllowedHeader>x-amz-*</AllowedHeader><AllowedMethod>GET</AllowedMethod>"
    "<AllowedMethod>PUT</AllowedMethod><AllowedOrigin>https://*.example.org</AllowedOrigin>"
    "<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>300</MaxAgeSeconds></CORSRule>"
    "<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>"
    "</CORSConfiguration>";

std::string Refusal(const std::string& rule) {
  const auto parsed = ParseCors("<CORSConfiguration>" + rule + "</CORSConfiguration>");
  return parsed ? "" : parsed.error().code;
}

TEST(S3Cors, DocumentsGoThereAndBack) {
  const auto rules = ParseCors(kDocument);
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 2U);
  const std::string written = WriteCors(*rules);
  EXPECT_EQ(written, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + std::string(kDocument));
}

TEST(S3Cors, BadDocumentsAreRefused) {
  const std::string origin = "<AllowedOrigin>*</AllowedOrigin>";
  const std::string method = "<AllowedMethod>GET</AllowedMethod>";
  const auto rule = [](const std::string& inner) { return "<CORSRule>" + inner + "</CORSRule>"; };
  EXPECT_EQ(Refusal(rule(origin + method)), "");
  EXPECT_EQ(Refusal(""), "MalformedXML");
  EXPECT_EQ(Refusal(rule(origin)), "MalformedXML");
  EXPECT_EQ(Refusal(rule(method)), "MalformedXML");
  EXPECT_EQ(Refusal(rule(origin + method + "<Other/>")), "MalformedXML");
  EXPECT_EQ(Refusal(rule(origin + "<AllowedMethod>PATCH</AllowedMethod>")), "InvalidRequest");
  EXPECT_EQ(Refusal(rule(method + "<AllowedOrigin>a*b*</AllowedOrigin>")), "InvalidRequest");
  EXPECT_EQ(Refusal(rule(origin + method + "<ExposeHeader>x-*</ExposeHeader>")), "InvalidRequest");
  EXPECT_EQ(Refusal(rule(origin + method + "<ExposeHeader>x&#13;y</ExposeHeader>")),
            "MalformedXML");
  EXPECT_EQ(Refusal(rule(origin + method + "<MaxAgeSeconds>-1</MaxAgeSeconds>")), "MalformedXML");
  std::string many;
  for (int i = 0; i < 101; ++i) many += rule(origin + method);
  EXPECT_EQ(Refusal(many), "MalformedXML");
}

TEST(S3Cors, TheFirstRuleThatAllowsItCounts) {
  const auto rules = *ParseCors(kDocument);
  const auto match = [&](std::string_view origin, std::string_view method,
                         std::vector<std::string> headers = {}) -> int {
    const CorsRule* const rule = MatchCors(rules, {origin, method, std::move(headers)});
    return rule == nullptr ? -1 : static_cast<int>(rule - rules.data());
  };
  EXPECT_EQ(match("https://a.example.org", "PUT", {"x-amz-acl"}), 0);
  EXPECT_EQ(match("https://a.example.org", "PUT", {"x-other"}), -1);
  EXPECT_EQ(match("https://.example.org", "GET"), 0);
  EXPECT_EQ(match("https://example.org", "GET"), 1);
  EXPECT_EQ(match("http://a.example.org", "PUT"), -1);
  EXPECT_EQ(match("https://a.example.org.evil", "PUT"), -1);
}

class S3CorsTest : public testing::S3Fixture {
 protected:
  S3CorsTest() { EXPECT_EQ(Outcome({"PUT", "/bkt?cors", {}, kDocument}), "200 "); }
};

TEST_F(S3CorsTest, PreflightsNeedNoSignature) {
  context_.principal.anonymous = true;
  const auto allowed = Do({"OPTIONS",
                           "/bkt/k",
                           {{"Origin", "https://a.example.org"},
                            {"Access-Control-Request-Method", "PUT"},
                            {"Access-Control-Request-Headers", "X-Amz-Date, x-amz-acl"}}});
  EXPECT_EQ(allowed.status, 200U);
  EXPECT_EQ(allowed.headers.Get("access-control-allow-origin"), "https://a.example.org");
  EXPECT_EQ(allowed.headers.Get("access-control-allow-methods"), "GET, PUT");
  EXPECT_EQ(allowed.headers.Get("access-control-allow-headers"), "x-amz-date, x-amz-acl");
  EXPECT_EQ(allowed.headers.Get("access-control-expose-headers"), "ETag");
  EXPECT_EQ(allowed.headers.Get("access-control-max-age"), "300");
  EXPECT_EQ(allowed.headers.Get("access-control-allow-credentials"), "true");
  EXPECT_EQ(Outcome({"OPTIONS",
                     "/bkt/k",
                     {{"Origin", "http://evil"}, {"Access-Control-Request-Method", "PUT"}}}),
            "403 AccessForbidden");
  EXPECT_EQ(Outcome({"OPTIONS", "/bkt/k", {{"Origin", "http://evil"}}}), "400 BadRequest");
  EXPECT_EQ(Outcome({"OPTIONS", "/bkt/k"}), "400 BadRequest");
  EXPECT_EQ(Outcome({"OPTIONS",
                     "/none/k",
                     {{"Origin", "http://evil"}, {"Access-Control-Request-Method", "PUT"}}}),
            "403 AccessForbidden");
}

TEST_F(S3CorsTest, AnswersCarryTheHeadersErrorsToo) {
  ASSERT_TRUE(Put("bkt", "k", "x"));
  const auto got = Do({"GET", "/bkt/k", {{"Origin", "http://anywhere"}}});
  EXPECT_EQ(got.headers.Get("access-control-allow-origin"), "*");
  EXPECT_FALSE(got.headers.Has("access-control-allow-credentials"));
  EXPECT_TRUE(got.headers.Has("vary"));
  const auto missing = Do({"GET", "/bkt/none", {{"Origin", "http://anywhere"}}});
  EXPECT_EQ(missing.headers.Get("access-control-allow-origin"), "*");
  EXPECT_FALSE(Do({"GET", "/bkt/k"}).headers.Has("access-control-allow-origin"));
  EXPECT_FALSE(Do({"DELETE", "/bkt/k", {{"Origin", "http://anywhere"}}})
                   .headers.Has("access-control-allow-origin"));
}

TEST_F(S3CorsTest, RulesComeAndGo) {
  EXPECT_THAT(Do({"GET", "/bkt?cors"}).body, HasSubstr("<ID>one</ID>"));
  EXPECT_EQ(Outcome({"PUT", "/bkt?cors", {}, "<CORSConfiguration/>"}), "400 MalformedXML");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?cors"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?cors"}), "404 NoSuchCORSConfiguration");
  EXPECT_EQ(Outcome({"OPTIONS",
                     "/bkt/k",
                     {{"Origin", "http://a"}, {"Access-Control-Request-Method", "GET"}}}),
            "403 AccessForbidden");
}

}  // namespace
}  // namespace sabia::s3
