#include "agent/metric_matcher.h"

#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

std::unique_ptr<MetricMatcher> Make(const std::vector<model::MetricDefinition>& definitions) {
  auto out = MetricMatcher::Create(definitions);
  EXPECT_TRUE(out) << out.error().message;
  return std::move(*out);
}

TEST(MetricMatcher, FirstGroupAsNumberLastMatchCounts) {
  const auto matcher = Make({{"loss", "loss=([0-9.e+-]+)"}, {"acc", "acc: (\\S+)"}});
  const auto got = matcher->Match("loss=3 loss=1.5e-3, acc: +0.75");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].index, 0u);
  EXPECT_DOUBLE_EQ(got[0].value, 0.0015);
  EXPECT_DOUBLE_EQ(got[1].value, 0.75);
  EXPECT_TRUE(matcher->Match("nothing here").empty());
}

TEST(MetricMatcher, WhatIsNoNumberIsNoMetric) {
  const auto matcher = Make({{"f1", "F1=(.*?)"}, {"x", "x=(\\S*)"}, {"none", "y="}});
  EXPECT_TRUE(matcher->Match("F1=0.9").empty()) << "a lazy group captures nothing";
  for (const char* line : {"x=", "x=abc", "x=1.5abc", "x=nan", "x=inf", "x=0x10", "y=3"}) {
    EXPECT_TRUE(matcher->Match(line).empty()) << line;
  }
}

TEST(MetricMatcher, TabsMatchAsTheyAreAndAsAwsShowsThem) {
  const auto matcher = Make({{"validation:rmse", ".*\\[[0-9]+\\].*#011validation-rmse:(\\S+)"},
                             {"train:rmse", "\\ttrain-rmse:(\\S+)"}});
  const auto got = matcher->Match("[3]\ttrain-rmse:1.25000\tvalidation-rmse:2.50000");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_DOUBLE_EQ(got[0].value, 2.5);
  EXPECT_DOUBLE_EQ(got[1].value, 1.25);
}

TEST(MetricMatcher, AValueEndsBeforeAnEscapedTab) {
  const auto matcher = Make({{"validation:rmse", ".*\\[[0-9]+\\].*#011validation-rmse:(\\S+)"},
                             {"validation:mae", ".*\\[[0-9]+\\].*#011validation-mae:(\\S+)"}});
  const auto got = matcher->Match("[3]\ttrain-rmse:1.25\tvalidation-rmse:2.5\tvalidation-mae:1.5");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_DOUBLE_EQ(got[0].value, 2.5);
  EXPECT_DOUBLE_EQ(got[1].value, 1.5);
}

TEST(MetricMatcher, BadRegexNamesItsMetric) {
  const auto bad = MetricMatcher::Create({{"ok", "(a)"}, {"broken", "(unclosed"}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(bad.error().message.find("'broken'"), std::string::npos);
}

TEST(MetricMatcher, CatastrophicRegexGivesUp) {
  const auto matcher = Make({{"evil", "(a+)+$"}});
  EXPECT_TRUE(matcher->Match(std::string(5000, 'a') + "b").empty());
}

TEST(MetricMatcher, EmptyMatchesEnd) {
  const auto matcher = Make({{"e", "(\\d*)"}});
  const auto got = matcher->Match("ab12cd");
  ASSERT_EQ(got.size(), 1u);
  EXPECT_DOUBLE_EQ(got[0].value, 12);
}

}  // namespace
}  // namespace sabia::agent
