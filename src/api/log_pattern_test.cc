#include "api/log_pattern.h"

#include <gtest/gtest.h>

namespace sabia::api {
namespace {

bool Matches(std::string_view pattern, std::string_view message) {
  const auto parsed = LogPattern::Parse(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  return parsed && parsed->Matches(message);
}

TEST(LogPattern, AllTermsMustOccur) {
  EXPECT_TRUE(Matches("", "anything"));
  EXPECT_TRUE(Matches("ERROR disk", "disk ERROR: full"));
  EXPECT_FALSE(Matches("ERROR disk", "ERROR: full"));
  EXPECT_FALSE(Matches("error", "ERROR")) << "case matters";
}

TEST(LogPattern, QuotedPhrases) {
  EXPECT_TRUE(Matches(R"("out of memory")", "job was out of memory"));
  EXPECT_FALSE(Matches(R"("out of memory")", "memory out of"));
  EXPECT_TRUE(Matches(R"("say \"x\"")", R"(they say "x" now)"));
  EXPECT_TRUE(Matches(R"("-a")", "x -a")) << "quoted, a sign is only a sign";
}

TEST(LogPattern, AlternativesAndExclusions) {
  EXPECT_TRUE(Matches("?ERROR ?WARN", "WARN: x"));
  EXPECT_FALSE(Matches("?ERROR ?WARN", "INFO: x"));
  EXPECT_TRUE(Matches("ERROR -ignored", "ERROR: x"));
  EXPECT_FALSE(Matches("ERROR -ignored", "ERROR: ignored"));
  EXPECT_FALSE(Matches(R"(-"two words")", "has two words"));
  EXPECT_TRUE(Matches(R"(?"two words" ?x)", "has two words"));
}

TEST(LogPattern, RefusesWhatItCannotDo) {
  for (const char* pattern : {"{ $.level = \"x\" }", "[ip, user]", "%ERR.*%"}) {
    const auto parsed = LogPattern::Parse(pattern);
    ASSERT_FALSE(parsed.has_value()) << pattern;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUnimplemented);
  }
  for (const char* pattern : {"\"open", "\"\"", "?", "-", "a -"}) {
    const auto parsed = LogPattern::Parse(pattern);
    ASSERT_FALSE(parsed.has_value()) << pattern;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sabia::api
