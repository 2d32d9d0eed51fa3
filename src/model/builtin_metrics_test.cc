#include "model/builtin_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

namespace sabia::model {
namespace {

std::string RegexOf(const std::string& name) {
  for (const MetricDefinition& definition : XgboostMetricDefinitions()) {
    if (definition.name == name) return definition.regex;
  }
  return "";
}

TEST(XgboostMetricDefinitions, AreAwsOwn) {
  EXPECT_EQ(RegexOf("validation:rmse"), R"(.*\[[0-9]+\].*#011validation-rmse:(\S+))");
  EXPECT_EQ(RegexOf("train:auc"), R"(.*\[[0-9]+\].*#011train-auc:(\S+))");
  EXPECT_EQ(XgboostMetricDefinitions().size(), 66u);
}

TEST(XgboostMetricDefinitions, AreSortedAndDistinct) {
  const auto definitions = XgboostMetricDefinitions();
  EXPECT_TRUE(std::is_sorted(definitions.begin(), definitions.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  EXPECT_EQ(std::adjacent_find(definitions.begin(), definitions.end(),
                               [](const auto& a, const auto& b) { return a.name == b.name; }),
            definitions.end());
}

TEST(XgboostMetricDefinitions, ReadARoundLine) {
  const std::string line = "[12]#011train-rmse:2.31000#011validation-rmse:2.41250";
  const auto value = [&](const std::string& name) {
    std::smatch match;
    const std::regex regex(RegexOf(name));
    if (!std::regex_search(line, match, regex)) return std::string("nothing");
    return match[1].str().substr(0, match[1].str().find("#011"));
  };
  EXPECT_EQ(value("train:rmse"), "2.31000");
  EXPECT_EQ(value("validation:rmse"), "2.41250");
  EXPECT_EQ(value("validation:rmsle"), "nothing");
}

}  // namespace
}  // namespace sabia::model
