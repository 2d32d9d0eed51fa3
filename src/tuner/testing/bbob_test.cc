#include "tuner/testing/bbob.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

using Eigen::VectorXd;

class BbobTest : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  Bbob Make(std::uint64_t seed) const {
    return Bbob({std::get<0>(GetParam()), std::get<1>(GetParam()), seed});
  }
};

TEST_P(BbobTest, TheOptimumIsWhereItIsSaidToBe) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Bbob bbob = Make(seed);
    EXPECT_LE(bbob.best_point().cwiseAbs().maxCoeff(), kBbobBound);
    EXPECT_NEAR(bbob.Value(bbob.best_point()), bbob.best_value(), 1e-6);
  }
}

TEST_P(BbobTest, NothingIsBetterThanTheOptimum) {
  const Bbob bbob = Make(1);
  Rng rng(9, Stream{0});
  for (int i = 0; i < 2000; ++i) {
    VectorXd x(bbob.best_point().size());
    // From everywhere to very near.
    const double radius = std::pow(10, -4 * rng.Uniform());
    for (double& coordinate : x) coordinate = 10 * radius * (rng.Uniform() - 0.5);
    if (i % 2 == 0) x = (x + bbob.best_point()).cwiseMax(-kBbobBound).cwiseMin(kBbobBound);
    EXPECT_GE(bbob.Value(x), bbob.best_value() - 1e-9);
    EXPECT_TRUE(std::isfinite(bbob.Value(x)));
  }
}

TEST_P(BbobTest, SeedsMoveTheOptimum) {
  const Bbob a = Make(1);
  const Bbob b = Make(12);
  EXPECT_EQ(Make(1).Value(b.best_point()), a.Value(b.best_point()));
  EXPECT_NE(a.Value(VectorXd::Zero(a.best_point().size())),
            b.Value(VectorXd::Zero(a.best_point().size())));
}

INSTANTIATE_TEST_SUITE_P(All, BbobTest,
                         testing::Combine(testing::Range(1, kBbobFunctions + 1),
                                          testing::Values(2, 5, 10)),
                         [](const auto& named) {
                           std::string name = Bbob::Name(std::get<0>(named.param));
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::to_string(std::get<1>(named.param));
                         });

// Values that can be worked out by hand.
TEST(Bbob, KnownValues) {
  const Bbob sphere({1, 3, 4});
  const VectorXd off = sphere.best_point() + VectorXd::Constant(3, 0.5);
  EXPECT_NEAR(sphere.Value(off) - sphere.best_value(), 0.75, 1e-9);
  // One step along the first axis of the linear slope, away from the corner: the slope is 1 there.
  const Bbob slope({5, 2, 4});
  VectorXd x = slope.best_point();
  x[0] *= 0.8;
  EXPECT_NEAR(slope.Value(x) - slope.best_value(), 1, 1e-9);
  // Rosenbrock's valley: z = (-1, 1) costs (z - 1)^2 = 4; in two dimensions nothing is scaled.
  const Bbob rosenbrock({8, 2, 4});
  VectorXd valley = rosenbrock.best_point();
  valley[0] -= 2;
  EXPECT_NEAR(rosenbrock.Value(valley) - rosenbrock.best_value(), 4, 1e-9);
  // The step function is flat: a tiny step changes nothing but the slight slope of its first axis.
  const Bbob steps({7, 2, 4});
  const VectorXd beside = VectorXd::Constant(2, 1.37);
  EXPECT_NEAR(steps.Value(beside), steps.Value(beside.array() + 1e-9), 1e-9);
}

}  // namespace
}  // namespace sabia::tuner
