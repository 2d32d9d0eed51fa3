#include "s3/range.h"

#include <gtest/gtest.h>

#include "s3/conditions.h"

namespace sabia::s3 {
namespace {

std::string Range(std::string_view header, std::uint64_t size = 10) {
  const auto range = ParseRange(header, size);
  if (!range) return range.error().code;
  if (!*range) return "whole";
  return std::to_string((*range)->offset) + "+" + std::to_string((*range)->length);
}

TEST(S3Range, Table) {
  EXPECT_EQ(Range("bytes=0-9"), "0+10");
  EXPECT_EQ(Range("bytes=2-3"), "2+2");
  EXPECT_EQ(Range("bytes=9-"), "9+1");
  EXPECT_EQ(Range("bytes=5-100"), "5+5");
  EXPECT_EQ(Range("bytes=0-99999999999999999999999"), "0+10");
  EXPECT_EQ(Range("bytes=-3"), "7+3");
  EXPECT_EQ(Range("bytes=-100"), "0+10");
  EXPECT_EQ(Range("bytes=10-"), "InvalidRange");
  EXPECT_EQ(Range("bytes=99999999999999999999999-"), "InvalidRange");
  EXPECT_EQ(Range("bytes=-0"), "InvalidRange");
  EXPECT_EQ(Range("bytes=0-", 0), "InvalidRange");
  EXPECT_EQ(Range("bytes=-1", 0), "InvalidRange");
  for (const char* ignored :
       {"", "bytes", "bytes=", "bytes=-", "bytes=3-2", "bytes=a-b", "items=0-1", "bytes=0-1,3-4",
        "bytes= 0-1", "bytes=-1-2", "bytes=+1-2"}) {
    EXPECT_EQ(Range(ignored), "whole") << ignored;
  }
}

TEST(S3Range, CopyRangesMustLieInside) {
  EXPECT_EQ(ParseCopyRange("bytes=2-4", 10)->length, 3U);
  for (const char* bad : {"bytes=2-", "bytes=-2", "bytes=4-2", "bytes=0-10", "x", ""}) {
    EXPECT_FALSE(ParseCopyRange(bad, 10)) << bad;
  }
}

TEST(S3Conditions, EtagLists) {
  EXPECT_TRUE(MatchesEtag("\"a\"", "a"));
  EXPECT_TRUE(MatchesEtag("a", "a"));
  EXPECT_TRUE(MatchesEtag("\"x\", W/\"a\"", "a"));
  EXPECT_TRUE(MatchesEtag("*", "a"));
  EXPECT_FALSE(MatchesEtag("\"b\"", "a"));
  EXPECT_FALSE(MatchesEtag("", "a"));
}

TEST(S3Conditions, EtagsGoBeforeDates) {
  ObjectInfo object;
  object.etag = "e";
  object.modified = FromUnixMillis(1'700'000'000'900);
  const WallTime same = FromUnixMillis(1'700'000'000'000);
  const WallTime before = same - Seconds{1};
  const std::string e = "\"e\"", other = "\"o\"";
  EXPECT_EQ(Evaluate({}, object), Verdict::kProceed);
  EXPECT_EQ(Evaluate({.if_match = other}, object), Verdict::kFailed);
  EXPECT_EQ(Evaluate({.if_match = e, .if_unmodified_since = before}, object), Verdict::kProceed);
  EXPECT_EQ(Evaluate({.if_unmodified_since = before}, object), Verdict::kFailed);
  EXPECT_EQ(Evaluate({.if_unmodified_since = same}, object), Verdict::kProceed);
  EXPECT_EQ(Evaluate({.if_none_match = e}, object), Verdict::kNotModified);
  EXPECT_EQ(Evaluate({.if_none_match = other, .if_modified_since = same}, object),
            Verdict::kProceed);
  EXPECT_EQ(Evaluate({.if_modified_since = same}, object), Verdict::kNotModified);
  EXPECT_EQ(Evaluate({.if_modified_since = before}, object), Verdict::kProceed);
}

}  // namespace
}  // namespace sabia::s3
