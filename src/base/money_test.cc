#include "base/money.h"

#include <gtest/gtest.h>

namespace sabia {
namespace {

constexpr Money kHourly = Money::FromNanos(115'000'000);  // 0.115 USD, ml.m5.large

TEST(Money, CostsAreProportionalAndRounded) {
  EXPECT_EQ(CostOf(kHourly, Seconds(3'600)), kHourly);
  EXPECT_EQ(CostOf(kHourly, Seconds(60)).nanos(), 1'916'667);
  EXPECT_EQ(CostOf(kHourly, Millis(0)).nanos(), 0);
}

TEST(Money, TheLargestJobDoesNotOverflow) {
  const Money hundred = Money::FromNanos(100'000'000'000);
  EXPECT_EQ(CostOf(hundred, Seconds(28 * 86'400)) * 100, Money::FromNanos(6'720'000'000'000'000));
}

TEST(Money, SumsAndText) {
  Money sum = kHourly + kHourly;
  sum += Money::FromNanos(1);
  EXPECT_EQ((sum - kHourly).nanos(), 115'000'001);
  EXPECT_EQ(Money::FromNanos(1'916'667).ToString(), "0.001917");
  EXPECT_LT(kHourly, sum);
}

}  // namespace
}  // namespace sabia
