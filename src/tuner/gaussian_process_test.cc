#include "tuner/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Coordinates 0 and 2 are numbers, 1 is one of three categories.
GpShape MixedShape() { return {.ordered = {true, false, true}, .warped = true}; }

GpData MixedData(Index n) {
  Rng rng(3, Stream{0});
  GpData data{MatrixXd(3, n), VectorXd(n)};
  for (Index i = 0; i < n; ++i) {
    data.x(0, i) = rng.Uniform();
    data.x(1, i) = (static_cast<double>(rng.Below(3)) + 0.5) / 3;
    data.x(2, i) = rng.Uniform();
    data.y[i] = std::sin(5 * data.x(0, i)) + data.x(1, i) * data.x(2, i) + 0.1 * rng.Normal();
  }
  return data;
}

GpTheta MixedTheta() {
  GpTheta theta(9);
  theta << 0.3, -3, -0.8, 0.4, 0.2, 0.3, -0.2, -0.4, 0.1;
  return theta;
}

// The kernel written out for two points.
double Kernel(const GpTheta& theta, const VectorXd& a, const VectorXd& b) {
  const auto warp = [&](double x, int at) {
    return 1 - std::pow(1 - std::pow(x, std::exp(theta[at])), std::exp(theta[at + 1]));
  };
  double r2 = std::pow((warp(a[0], 5) - warp(b[0], 5)) / std::exp(theta[2]), 2);
  r2 += a[1] == b[1] ? 0 : std::exp(-2 * theta[3]);
  r2 += std::pow((warp(a[2], 7) - warp(b[2], 7)) / std::exp(theta[4]), 2);
  const double r = std::sqrt(5 * r2);
  return std::exp(theta[0]) * (1 + r + 5 * r2 / 3) * std::exp(-r);
}

TEST(GaussianProcess, PosteriorIsTheDenseClosedForm) {
  const GpData data = MixedData(12);
  const GpTheta theta = MixedTheta();
  const GaussianProcess process(MixedShape(), theta, data);
  MatrixXd k(12, 12);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) k(i, j) = Kernel(theta, data.x.col(i), data.x.col(j));
    k(i, i) += std::exp(theta[1]) + 1e-8;
  }
  const MatrixXd inverse = k.inverse();
  const GpData other = MixedData(20);
  for (Index p = 12; p < 20; ++p) {
    const VectorXd x = other.x.col(p);
    VectorXd cross(12);
    for (Index i = 0; i < 12; ++i) cross[i] = Kernel(theta, data.x.col(i), x);
    const double mean = cross.dot(inverse * data.y);
    const double variance = Kernel(theta, x, x) - cross.dot(inverse * cross);
    const auto prediction = process.Predict(x);
    EXPECT_NEAR(prediction.mean, mean, 1e-8);
    EXPECT_NEAR(prediction.deviation, std::sqrt(variance), 1e-8);
  }
}

TEST(GaussianProcess, PosteriorDensityHasTheNormalFormAndItsPriors) {
  const GpData data = MixedData(8);
  const GpTheta theta = MixedTheta();
  MatrixXd k(8, 8);
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 8; ++j) k(i, j) = Kernel(theta, data.x.col(i), data.x.col(j));
    k(i, i) += std::exp(theta[1]) + 1e-8;
  }
  double expected = -0.5 * data.y.dot(k.inverse() * data.y) - 0.5 * std::log(k.determinant()) -
                    4 * std::log(2 * M_PI);
  const GpPriors priors;
  const auto normal = [](double value, double mean, double deviation) {
    return -0.5 * std::pow((value - mean) / deviation, 2);
  };
  expected += normal(theta[0], 0, priors.amplitude_deviation);
  expected += normal(theta[1], priors.noise_mean, priors.noise_deviation);
  for (int d = 2; d < 5; ++d) {
    expected += normal(theta[d], priors.length_mean + 0.5 * std::log(3), priors.length_deviation);
  }
  for (int w = 5; w < 9; ++w) expected += normal(theta[w], 0, priors.warp_deviation);
  GpTheta gradient;
  EXPECT_NEAR(LogPosterior(MixedShape(), priors, data, theta, gradient), expected, 1e-8);
}

TEST(GaussianProcess, GradientOfTheHyperparametersIsThatOfFiniteDifferences) {
  const GpData data = MixedData(15);
  const GpPriors priors;
  for (const bool warped : {true, false}) {
    GpShape shape = MixedShape();
    shape.warped = warped;
    GpTheta theta = MixedTheta();
    if (!warped) theta.conservativeResize(5);
    GpTheta gradient;
    LogPosterior(shape, priors, data, theta, gradient);
    GpTheta ignored;
    for (Index i = 0; i < theta.size(); ++i) {
      constexpr double kStep = 1e-5;
      GpTheta above = theta;
      GpTheta below = theta;
      above[i] += kStep;
      below[i] -= kStep;
      const double difference = (LogPosterior(shape, priors, data, above, ignored) -
                                 LogPosterior(shape, priors, data, below, ignored)) /
                                (2 * kStep);
      EXPECT_NEAR(gradient[i], difference, 1e-5 * (1 + std::abs(difference))) << i;
    }
  }
}

TEST(GaussianProcess, GradientOfThePredictionIsThatOfFiniteDifferences) {
  const auto parent = std::make_shared<GaussianProcess>(MixedShape(), MixedTheta(), MixedData(6));
  const GaussianProcess process(MixedShape(), MixedTheta(), MixedData(15), {{0.7, parent}});
  VectorXd x(3);
  x << 0.37, 0.5, 0.81;
  VectorXd by_mean;
  VectorXd by_deviation;
  const auto prediction = process.Predict(x, by_mean, by_deviation);
  EXPECT_NEAR(prediction.mean, process.Predict(x).mean, 1e-12);
  EXPECT_NEAR(prediction.deviation, process.Predict(x).deviation, 1e-12);
  for (const Index d : {0, 2}) {
    constexpr double kStep = 1e-6;
    VectorXd above = x;
    VectorXd below = x;
    above[d] += kStep;
    below[d] -= kStep;
    const auto high = process.Predict(above);
    const auto low = process.Predict(below);
    EXPECT_NEAR(by_mean[d], (high.mean - low.mean) / (2 * kStep), 1e-6);
    EXPECT_NEAR(by_deviation[d], (high.deviation - low.deviation) / (2 * kStep), 1e-6);
  }
  EXPECT_EQ(by_mean[1], 0);
}

TEST(GaussianProcess, ManyPointsAtOnceAreTheSameAsOneByOne) {
  const GaussianProcess process(MixedShape(), MixedTheta(), MixedData(15));
  const MatrixXd x = MixedData(30).x;
  VectorXd mean;
  VectorXd deviation;
  process.Predict(x, mean, deviation);
  for (Index i = 0; i < x.cols(); ++i) {
    const auto one = process.Predict(VectorXd(x.col(i)));
    EXPECT_NEAR(mean[i], one.mean, 1e-12);
    EXPECT_NEAR(deviation[i], one.deviation, 1e-12);
  }
  EXPECT_NEAR(process.FittedMeans()[3], mean[3], 1e-12);
}

TEST(GaussianProcess, APriorMeanIsPredictedFarFromTheData) {
  const GpShape shape{.ordered = {true}, .warped = false};
  GpTheta theta(3);
  theta << 0, -9, -4;
  const auto parent = std::make_shared<GaussianProcess>(
      shape, theta, GpData{MatrixXd::Constant(1, 1, 0.9), VectorXd::Constant(1, 2.0)});
  const GaussianProcess process(
      shape, theta, {MatrixXd::Constant(1, 1, 0.1), VectorXd::Constant(1, -1.0)}, {{0.5, parent}});
  EXPECT_NEAR(process.Predict(VectorXd(VectorXd::Constant(1, 0.9))).mean, 1, 1e-3);
  EXPECT_NEAR(process.Predict(VectorXd(VectorXd::Constant(1, 0.1))).mean, -1, 1e-3);
}

TEST(GaussianProcess, EqualPointsAndNoNoiseAreNoTrouble) {
  const GpShape shape{.ordered = {true}, .warped = true};
  GpTheta theta(5);
  theta << 0, -19, 1, 0, 0;
  const GpData data{MatrixXd::Constant(1, 5, 0.4), VectorXd::LinSpaced(5, -1, 1)};
  const GaussianProcess process(shape, theta, data);
  const auto at = process.Predict(VectorXd(VectorXd::Constant(1, 0.4)));
  EXPECT_NEAR(at.mean, 0, 1e-3);
  EXPECT_TRUE(std::isfinite(at.deviation));
  // The ends of the cube, where a warp's slope may be infinite.
  VectorXd by_mean;
  VectorXd by_deviation;
  for (const double end : {0.0, 1.0}) {
    process.Predict(VectorXd(VectorXd::Constant(1, end)), by_mean, by_deviation);
    EXPECT_TRUE(by_mean.allFinite() && by_deviation.allFinite());
  }
}

TEST(GaussianProcess, FittingFindsTheCoordinateThatMatters) {
  Rng rng(1, Stream{0});
  GpData data{MatrixXd(3, 40), VectorXd(40)};
  for (Index i = 0; i < 40; ++i) {
    for (Index d = 0; d < 3; ++d) data.x(d, i) = rng.Uniform();
    data.y[i] = std::sin(6 * data.x(1, i));
  }
  const GpShape shape{.ordered = {true, true, true}, .warped = false};
  const GpPriors priors;
  const GpTheta start = DefaultTheta(shape, priors);
  const GpTheta theta = FitTheta(shape, priors, data, start, {});
  GpTheta ignored;
  EXPECT_GT(LogPosterior(shape, priors, data, theta, ignored),
            LogPosterior(shape, priors, data, start, ignored));
  EXPECT_LT(theta[3] + 1, theta[2]);
  EXPECT_LT(theta[3] + 1, theta[4]);
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  const SmoothFunction valley = [](const VectorXd& x, VectorXd& gradient) {
    const double a = 1 - x[0];
    const double b = x[1] - x[0] * x[0];
    gradient.resize(2);
    gradient << -2 * a - 400 * x[0] * b, 200 * b;
    return a * a + 100 * b * b;
  };
  VectorXd start(2);
  start << -1.2, 1;
  const Minimum minimum = MinimizeLbfgs(
      valley, start, {.iterations_max = 200, .evaluations_max = 500, .relative_tolerance = 1e-14});
  EXPECT_NEAR(minimum.x[0], 1, 1e-4);
  EXPECT_NEAR(minimum.x[1], 1, 1e-4);
  // From where the function has no value it goes nowhere.
  const SmoothFunction nowhere = [](const VectorXd& x, VectorXd& gradient) {
    gradient = VectorXd::Zero(x.size());
    return std::nan("");
  };
  EXPECT_EQ(MinimizeLbfgs(nowhere, start, {}).x, start);
}

}  // namespace
}  // namespace sabia::tuner
