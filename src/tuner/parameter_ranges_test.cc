#include "tuner/parameter_ranges.h"

#include <gtest/gtest.h>

namespace sabia::tuner {
namespace {

TEST(ParameterRanges, AreReadInTheOrderOfTheApiByteForByte) {
  const auto ranges = ReadRanges(*ParseJsonObject(R"({
    "CategoricalParameterRanges": [{"Name": "c", "Values": ["\"adam\"", " x"]}],
    "ContinuousParameterRanges": [
      {"Name": "r", "MinValue": "1e-3", "MaxValue": "0.1", "ScalingType": "Logarithmic"},
      {"Name": "s", "MinValue": "0", "MaxValue": "0.9", "ScalingType": "ReverseLogarithmic"}],
    "IntegerParameterRanges": [
      {"Name": "i", "MinValue": "1", "MaxValue": "9", "ScalingType": "Linear"}, {"Name": "j"}],
    "AutoParameters": [{"Name": "a", "ValueHint": "1"}]})"));
  ASSERT_EQ(ranges.size(), 5u);
  EXPECT_EQ(ranges[0].name, "i");
  EXPECT_EQ(ranges[0].kind, ParameterKind::kInteger);
  EXPECT_EQ(ranges[0].scaling, Scaling::kLinear);
  EXPECT_EQ(ranges[1].scaling, Scaling::kAuto);
  EXPECT_EQ(ranges[2].kind, ParameterKind::kContinuous);
  EXPECT_EQ(ranges[2].min, "1e-3");
  EXPECT_EQ(ranges[2].max, "0.1");
  EXPECT_EQ(ranges[2].scaling, Scaling::kLogarithmic);
  EXPECT_EQ(ranges[3].scaling, Scaling::kReverseLogarithmic);
  EXPECT_EQ(ranges[4].kind, ParameterKind::kCategorical);
  EXPECT_EQ(ranges[4].values, (std::vector<std::string>{"\"adam\"", " x"}));
  EXPECT_TRUE(ReadRanges({}).empty());
}

}  // namespace
}  // namespace sabia::tuner
