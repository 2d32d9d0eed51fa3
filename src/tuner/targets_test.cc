#include "tuner/targets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr TargetTransform kAll[] = {TargetTransform::kNone, TargetTransform::kWinsorised,
                                    TargetTransform::kPower, TargetTransform::kRank,
                                    TargetTransform::kHalfRank};

VectorXd Skewed(Index n) {
  Rng rng(5, Stream{0});
  VectorXd losses(n);
  for (double& loss : losses) loss = std::exp(2 * rng.Normal());
  return losses;
}

TEST(Targets, KeepTheOrderAndAreStandardised) {
  const VectorXd losses = Skewed(60);
  for (const TargetTransform transform : kAll) {
    const VectorXd y = TransformTargets(losses, transform);
    EXPECT_NEAR(y.mean(), 0, 1e-9);
    EXPECT_NEAR(y.squaredNorm() / 60, 1, 1e-9);
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 60; ++j) {
        if (!(losses[i] < losses[j])) continue;
        EXPECT_LT(y[i], y[j]) << static_cast<int>(transform);
      }
    }
  }
}

TEST(Targets, EqualLossesAreZeros) {
  for (const TargetTransform transform : kAll) {
    for (const double value : {0.0, -3.25, 1e12}) {
      EXPECT_EQ(TransformTargets(VectorXd::Constant(7, value), transform).norm(), 0);
    }
    EXPECT_EQ(TransformTargets(VectorXd::Constant(1, 4), transform)[0], 0);
    EXPECT_TRUE(TransformTargets(VectorXd::LinSpaced(2, 0, 1), transform).allFinite());
  }
}

TEST(Targets, APowerMakesSkewedLossesNearlyNormal) {
  const VectorXd losses = Skewed(400);
  const auto skewness = [](const VectorXd& y) { return y.array().cube().mean(); };
  EXPECT_GT(skewness(TransformTargets(losses, TargetTransform::kNone)), 3);
  EXPECT_LT(std::abs(skewness(TransformTargets(losses, TargetTransform::kPower))), 1);
}

TEST(Targets, AHugeLossDoesNotHideTheOthers) {
  VectorXd losses = VectorXd::LinSpaced(20, 0, 1);
  losses[19] = 1e9;
  for (const TargetTransform transform :
       {TargetTransform::kWinsorised, TargetTransform::kRank, TargetTransform::kHalfRank}) {
    const VectorXd y = TransformTargets(losses, transform);
    EXPECT_GT(y[10] - y[0], 0.15) << static_cast<int>(transform);
  }
}

TEST(Targets, NormalQuantilesAreThePublishedOnes) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306167813, 1e-12);
}

}  // namespace
}  // namespace sabia::tuner
