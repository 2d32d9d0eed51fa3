#include "wire/uri_matcher.h"

#include <gtest/gtest.h>

#include "wire/schema.h"

namespace sabia::wire {
namespace {

std::string Match(std::string_view service, std::string_view method, std::string_view path) {
  const UriMatcher matcher(*FindService(service));
  RequestHead head;
  head.method = method;
  head.raw_path = path;
  const auto match = matcher.Match(head);
  if (!match) return match.error().message;
  if (match->operation == nullptr) return "none";
  std::string out(match->operation->name);
  for (const auto& [label, value] : match->labels) out += " " + label + "=" + value;
  return out;
}

std::string Runtime(std::string_view path) { return Match("sagemaker-runtime", "POST", path); }

TEST(UriMatcher, MatchesMethodAndPath) {
  EXPECT_EQ(Runtime("/endpoints/e-1/invocations"), "InvokeEndpoint EndpointName=e-1");
  EXPECT_EQ(Runtime("/endpoints/e-1/async-invocations"), "InvokeEndpointAsync EndpointName=e-1");
  EXPECT_EQ(Match("sagemaker-runtime", "GET", "/endpoints/e-1/invocations"), "none");
  EXPECT_EQ(Match("sagemaker-metrics", "PUT", "/BatchPutMetrics"), "BatchPutMetrics");
  EXPECT_EQ(Match("sagemaker-metrics", "GET", "/BatchPutMetrics"), "none");
  EXPECT_EQ(Match("sagemaker", "POST", "/"), "none") << "JSON services are not matched by path";
  EXPECT_EQ(Match("s3", "GET", "/b"), "none") << "S3 has a router of its own";
}

TEST(UriMatcher, LabelsAreWholeDecodedSegments) {
  EXPECT_EQ(Runtime("/endpoints/a%2Fb%20c/invocations"), "InvokeEndpoint EndpointName=a/b c");
  EXPECT_EQ(Runtime("/endpoints/a/b/invocations"), "none");
  EXPECT_EQ(Runtime("/endpoints//invocations"), "none");
  EXPECT_EQ(Runtime("/endpoints/e/invocations/"), "none");
  EXPECT_EQ(Runtime("/endpoints/e"), "none");
}

TEST(UriMatcher, OddPathsDoNotMatch) {
  EXPECT_EQ(Runtime("/"), "none");
  EXPECT_EQ(Runtime("*"), "none");
  EXPECT_EQ(Runtime("//"), "none");
  const std::string refusal = Runtime("/endpoints/%zz/invocations");
  EXPECT_NE(refusal, "none");
  EXPECT_FALSE(refusal.starts_with("InvokeEndpoint")) << "bad percent-encoding";
}

}  // namespace
}  // namespace sabia::wire
