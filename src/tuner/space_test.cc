#include "tuner/space.h"

#include <gtest/gtest.h>

#include <set>

namespace sabia::tuner {
namespace {

ParameterRange Continuous(std::string min, std::string max, Scaling scaling = Scaling::kLinear) {
  return {.name = "x",
          .kind = ParameterKind::kContinuous,
          .min = std::move(min),
          .max = std::move(max),
          .scaling = scaling};
}

ParameterRange Integer(std::string min, std::string max, Scaling scaling = Scaling::kLinear) {
  return {.name = "n",
          .kind = ParameterKind::kInteger,
          .min = std::move(min),
          .max = std::move(max),
          .scaling = scaling};
}

ParameterRange Categorical(std::vector<std::string> values) {
  return {.name = "c", .kind = ParameterKind::kCategorical, .values = std::move(values)};
}

Parameter Make(ParameterRange range) {
  auto parameter = Parameter::Create(std::move(range));
  EXPECT_TRUE(parameter.has_value()) << parameter.error().message;
  return *parameter;
}

std::string Refusal(ParameterRange range) {
  const auto parameter = Parameter::Create(std::move(range));
  EXPECT_FALSE(parameter.has_value());
  return parameter ? "" : parameter.error().message;
}

TEST(Parameter, BoundsAreInclusiveAndNeverLeft) {
  for (const Scaling scaling :
       {Scaling::kLinear, Scaling::kLogarithmic, Scaling::kReverseLogarithmic}) {
    const Parameter x = Make(Continuous("0.1", "0.7", scaling));
    EXPECT_EQ(x.Decode(0), "0.1");
    EXPECT_EQ(x.Decode(1), "0.7");
    EXPECT_EQ(x.Decode(-3), "0.1");
    EXPECT_EQ(x.Decode(2), "0.7");
  }
}

TEST(Parameter, ScalesFollowTheirNames) {
  EXPECT_EQ(Make(Continuous("0", "10")).Decode(0.5), "5.0");
  EXPECT_NEAR(std::stod(Make(Continuous("0.01", "100", Scaling::kLogarithmic)).Decode(0.5)), 1,
              1e-12);
  // Half way between 1 - 0.1 and 1 - 0.001 by the logarithm of the distance to 1.
  EXPECT_NEAR(std::stod(Make(Continuous("0.9", "0.999", Scaling::kReverseLogarithmic)).Decode(0.5)),
              0.99, 1e-12);
}

TEST(Parameter, AutoTakesALogarithmWhenTheBoundsAreFarApart) {
  EXPECT_EQ(Make(Continuous("0.001", "1", Scaling::kAuto)).scaling(), Scaling::kLogarithmic);
  EXPECT_EQ(Make(Continuous("0.1", "1", Scaling::kAuto)).scaling(), Scaling::kLinear);
  EXPECT_EQ(Make(Continuous("0", "1", Scaling::kAuto)).scaling(), Scaling::kLinear);
  EXPECT_EQ(Make(Continuous("0.5", "0.999", Scaling::kAuto)).scaling(),
            Scaling::kReverseLogarithmic);
  EXPECT_EQ(Make(Integer("1", "1000", Scaling::kAuto)).scaling(), Scaling::kLogarithmic);
  EXPECT_EQ(Make(Integer("-5", "1000", Scaling::kAuto)).scaling(), Scaling::kLinear);
}

TEST(Parameter, EveryIntegerSurvivesTheWayThereAndBack) {
  for (const Scaling scaling : {Scaling::kLinear, Scaling::kLogarithmic}) {
    const Parameter n = Make(Integer("1", "3000", scaling));
    EXPECT_EQ(n.Count(), 3000u);
    for (std::uint64_t i = 0; i < n.Count(); ++i) {
      const std::string text = n.Nth(i);
      EXPECT_EQ(n.Decode(*n.Encode(text)), text);
      EXPECT_NEAR(n.Snap(*n.Encode(text)), *n.Encode(text), 1e-12);
    }
  }
}

TEST(Parameter, IntegersAreDrawnEquallyOften) {
  const Parameter n = Make(Integer("0", "4"));
  std::map<std::string, int> counts;
  for (int i = 0; i < 1000; ++i) ++counts[n.Decode((i + 0.5) / 1000)];
  EXPECT_EQ(counts.size(), 5u);
  for (const auto& [text, count] : counts) EXPECT_EQ(count, 200) << text;
}

TEST(Parameter, ContinuousTextsReadBackToTheSameNumber) {
  const Parameter x = Make(Continuous("1e-07", "3", Scaling::kLogarithmic));
  for (int i = 0; i <= 1000; ++i) {
    const std::string text = x.Decode(i / 1000.0);
    EXPECT_EQ(PrintContinuous(std::stod(text)), text);
    EXPECT_NEAR(*x.Encode(text), i / 1000.0, 1e-12);
  }
  EXPECT_EQ(PrintContinuous(1), "1.0");
  EXPECT_EQ(PrintContinuous(0.1), "0.1");
  EXPECT_EQ(PrintContinuous(1e-5), "1e-05");
}

TEST(Parameter, CategoriesPassByteForByte) {
  const Parameter c = Make(Categorical({"\"relu\"", " tanh ", ""}));
  std::set<std::string> seen;
  for (int i = 0; i < 30; ++i) seen.insert(c.Decode((i + 0.5) / 30));
  EXPECT_EQ(seen, (std::set<std::string>{"\"relu\"", " tanh ", ""}));
  EXPECT_FALSE(c.IsOrdered());
  EXPECT_FALSE(c.Encode("relu").has_value());
}

TEST(Parameter, NumericCategoriesAreOrderedByValue) {
  const Parameter c = Make(Categorical({"128", "16", "1e3"}));
  EXPECT_TRUE(c.IsOrdered());
  EXPECT_EQ(c.Decode(0), "16");
  EXPECT_EQ(c.Decode(0.5), "128");
  EXPECT_EQ(c.Decode(1), "1e3");
  EXPECT_EQ(c.Nth(0), "128");
  EXPECT_FALSE(Make(Categorical({"0", "1"})).IsOrdered());
}

TEST(Parameter, OneValueIsAConstant) {
  for (const ParameterRange& range :
       {Continuous("0.5", "0.5"), Integer("3", "3", Scaling::kLogarithmic), Categorical({"a"}),
        Continuous("0.5", "0.5", Scaling::kReverseLogarithmic)}) {
    const Parameter constant = Make(range);
    EXPECT_TRUE(constant.IsConstant());
    EXPECT_EQ(constant.Decode(0), constant.Decode(1));
    EXPECT_EQ(*constant.Encode(constant.Decode(0.3)), 0.5);
  }
}

TEST(Parameter, ANumberOutOfBoundsLiesOutsideOfTheCube) {
  const Parameter n = Make(Integer("10", "20"));
  EXPECT_GT(*n.Encode("40"), 1);
  EXPECT_LT(*n.Encode("5"), 0);
  EXPECT_FALSE(n.Encode("12.5").has_value());
  EXPECT_FALSE(Make(Continuous("1", "10", Scaling::kLogarithmic)).Encode("-1").has_value());
}

TEST(Parameter, RefusalsNameTheParameterAndTheValue) {
  EXPECT_EQ(Refusal(Continuous("0", "1", Scaling::kLogarithmic)),
            "parameter 'x': Logarithmic scaling needs a minimum above 0, not 0");
  EXPECT_EQ(Refusal(Continuous("0", "1.0", Scaling::kReverseLogarithmic)),
            "parameter 'x': ReverseLogarithmic scaling needs a continuous range within 0 <= x < 1, "
            "not 0 to 1.0");
  EXPECT_NE(Refusal(Integer("0", "5", Scaling::kReverseLogarithmic)).find("'n'"),
            std::string::npos);
  EXPECT_EQ(Refusal(Continuous("2", "1")), "parameter 'x': the minimum 2 is above the maximum 1");
  EXPECT_EQ(Refusal(Continuous("nan", "1")), "parameter 'x': bound 'nan' is no finite number");
  EXPECT_NE(Refusal(Integer("1.5", "3")).find("bound '1.5'"), std::string::npos);
  EXPECT_NE(Refusal(Integer("1", "99999999999999999999")).find("2^53"), std::string::npos);
  EXPECT_EQ(Refusal(Categorical({})), "parameter 'c' has no values");
  EXPECT_EQ(Refusal(Categorical({"a", "b", "a"})), "parameter 'c' has the value 'a' twice");
}

TEST(Space, CountsAndNumbersItsConfigurations) {
  const auto space = Space::Create({Categorical({"a", "b"}), Integer("1", "3")});
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(space->Count(), 6u);
  std::set<Configuration> all;
  for (std::uint64_t n = 0; n < 6; ++n) all.insert(space->Nth(n));
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(space->Nth(0), (Configuration{"a", "1"}));
  EXPECT_EQ(space->Nth(1), (Configuration{"a", "2"}));
  EXPECT_EQ(space->Nth(5), (Configuration{"b", "3"}));
}

TEST(Space, MoreConfigurationsThanANumberHoldsAreUncountable) {
  std::vector<ParameterRange> ranges;
  for (int i = 0; i < 3; ++i) {
    ranges.push_back(Integer("0", "9007199254740991"));
    ranges.back().name += std::to_string(i);
  }
  EXPECT_EQ(Space::Create(ranges)->Count(), kUncountable);
}

TEST(Space, SnapIsDecodeThenEncode) {
  const auto space =
      Space::Create({Categorical({"a", "b", "c"}), Integer("1", "300", Scaling::kLogarithmic),
                     Continuous("0", "1")});
  ASSERT_TRUE(space.has_value());
  const Point point = {0.9, 0.43, 0.123456};
  const Point snapped = space->Snap(point);
  const auto read = space->Encode(space->Decode(point));
  ASSERT_TRUE(read.has_value());
  for (std::size_t i = 0; i < point.size(); ++i) EXPECT_DOUBLE_EQ(snapped[i], (*read)[i]);
}

TEST(Space, RefusesEmptyAndRepeatedRanges) {
  EXPECT_FALSE(Space::Create({}).has_value());
  const auto twice = Space::Create({Integer("1", "2"), Integer("1", "2")});
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().message, "parameter 'n' has two ranges");
  EXPECT_FALSE(Space::Create({Integer("1", "2")})->Encode({}).has_value());
}

}  // namespace
}  // namespace sabia::tuner
