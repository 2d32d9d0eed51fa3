#include "tuner/expected_improvement.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sabia::tuner {
namespace {

// log(phi(z) + z Phi(z)) worked out with 60 decimal digits.
TEST(LogImprovement, IsExactInTheTail) {
  const std::pair<double, double> values[] = {
      {-1000, -500014.73445209116}, {-100, -5010.1295788002498}, {-40, -808.29856835661996},
      {-20, -206.9178385094251},    {-10, -55.553122036122356},  {-5, -16.74430116266099},
      {-3.5, -9.7468100377653867},  {-3, -7.8696860596030285},   {-2.5, -6.2125416454435129},
      {-1, -2.4851210257126413},    {0, -0.91893853320467274},   {1, 0.08002621884930694},
      {5, 1.6094379231264314},
  };
  for (const auto& [z, expected] : values) {
    EXPECT_NEAR(StandardLogImprovement(z).value, expected, 1e-12 * (1 + std::abs(expected))) << z;
  }
}

TEST(LogImprovement, SlopeIsThatOfFiniteDifferences) {
  for (double z = -60; z < 6; z += 0.37) {
    constexpr double kStep = 1e-5;
    const double difference =
        (StandardLogImprovement(z + kStep).value - StandardLogImprovement(z - kStep).value) /
        (2 * kStep);
    EXPECT_NEAR(StandardLogImprovement(z).slope, difference, 1e-5 * (1 + difference)) << z;
  }
}

// Where the two formulas meet.
TEST(LogImprovement, HasNoSeam) {
  const auto below = StandardLogImprovement(-3 - 1e-12);
  const auto above = StandardLogImprovement(-3 + 1e-12);
  EXPECT_NEAR(below.value, above.value, 1e-10);
  EXPECT_NEAR(below.slope, above.slope, 1e-10);
}

}  // namespace
}  // namespace sabia::tuner
