// A Gaussian process over the unit cube: Matérn 5/2 with a length per coordinate, Kumaraswamy warps
// of ordered coordinates, Gaussian noise, zero mean (targets are standardised before).
//
// Distance in an unordered coordinate is 0 or 1: same category or not. Hyperparameters are at their
// most probable values (MAP) under the priors below. Thread-compatible; a prediction is const.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <utility>
#include <vector>

#include "tuner/lbfgs.h"

namespace sabia::tuner {

// What the process is told about the coordinates.
struct GpShape {
  std::vector<bool> ordered;
  bool warped = true;

  Eigen::Index size() const { return static_cast<Eigen::Index>(ordered.size()); }
};

// Normal priors on the logarithms of the hyperparameters: mean and deviation. Lengths are in units
// of the square root of the number of coordinates, so that the prior says the same in any dimension
// (Hvarfner, Hellsten, Nardi 2024).
struct GpPriors {
  double length_mean = -0.7;
  double length_deviation = 1;
  double amplitude_deviation = 1;
  double noise_mean = -9;
  double noise_deviation = 2.5;
  double warp_deviation = 0.5;
};

// One column of x per observation.
struct GpData {
  Eigen::MatrixXd x;
  Eigen::VectorXd y;
};

// Logarithms: amplitude, noise variance, lengths, then (a, b) of the warp of each ordered
// coordinate.
using GpTheta = Eigen::VectorXd;

GpTheta DefaultTheta(const GpShape& shape, const GpPriors& priors);

// The logarithm of the posterior density of the hyperparameters, up to a constant, and its
// gradient. Minus infinity where the covariance is not positive definite.
double LogPosterior(const GpShape& shape, const GpPriors& priors, const GpData& data,
                    const GpTheta& theta, GpTheta& gradient);

// Climbs from a start. Time: O(n^3) per evaluation.
GpTheta FitTheta(const GpShape& shape, const GpPriors& priors, const GpData& data,
                 const GpTheta& start, const LbfgsOptions& options);

class GaussianProcess;
// A weighted sum of other processes' means that takes the place of zero.
using PriorMean = std::vector<std::pair<double, std::shared_ptr<const GaussianProcess>>>;

class GaussianProcess {
 public:
  // The data's targets are what is left after the prior mean. Without data the prior is predicted.
  GaussianProcess(GpShape shape, GpTheta theta, GpData data, PriorMean prior_mean = {});

  // The same hyperparameters and prior mean over other observations.
  GaussianProcess WithData(GpData data) const {
    return {shape_, theta_, std::move(data), prior_mean_};
  }

  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the function, without the noise; above 0
  };
  Prediction Predict(const Eigen::VectorXd& x) const;
  // The gradients are 0 in unordered coordinates.
  Prediction Predict(const Eigen::VectorXd& x, Eigen::VectorXd& mean_gradient,
                     Eigen::VectorXd& deviation_gradient) const;
  // For many points at once, one per column.
  void Predict(const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& deviation) const;

  const GpData& data() const { return data_; }
  const GpTheta& theta() const { return theta_; }
  const GpShape& shape() const { return shape_; }
  // The expected values at the observed points.
  Eigen::VectorXd FittedMeans() const;
  // The prior mean alone.
  Eigen::VectorXd PriorMeans(const Eigen::MatrixXd& x) const;

 private:
  Eigen::MatrixXd CrossCovariance(const Eigen::MatrixXd& x) const;

  GpShape shape_;
  GpTheta theta_;
  GpData data_;
  Eigen::MatrixXd scaled_;  // warped and divided by the lengths
  Eigen::LLT<Eigen::MatrixXd> llt_;
  Eigen::VectorXd alpha_;
  PriorMean prior_mean_;
};

}  // namespace sabia::tuner
