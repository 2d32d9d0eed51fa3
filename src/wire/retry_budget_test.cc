#include "wire/retry_budget.h"

#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

TEST(RetryBudgetTest, LetsABurstThroughAndThenMakesCallersWaitTheirTurn) {
  RetryBudget budget({.burst = 3, .per_second = 10});
  MonoTime now(Millis(1'000'000));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.Take(now), Millis(0));
  EXPECT_EQ(budget.Take(now), Millis(100));
  EXPECT_EQ(budget.Take(now), Millis(200));
  now += Millis(200);
  EXPECT_EQ(budget.Take(now), Millis(100));
  now += Millis(3'600'000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.Take(now), Millis(0));
  EXPECT_EQ(budget.Take(now), Millis(100));
}

}  // namespace
}  // namespace sabia::wire
