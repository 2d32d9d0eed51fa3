// Losses as the Gaussian process likes them: mean 0, deviation 1, without tails.
//
// Every transform keeps the order, so the best stays the best. Pure, thread-safe.
#pragma once

#include <Eigen/Dense>

namespace sabia::tuner {

enum class TargetTransform {
  kNone,        // standardised only
  kWinsorised,  // losses far above the others are pulled in
  kPower,       // Yeo-Johnson, the exponent by maximum likelihood
  kRank,        // normal quantiles of the ranks
  kHalfRank,    // the worse half by rank, the better half as it is
};

// REQUIRES finite losses. Equal losses give zeros.
Eigen::VectorXd TransformTargets(const Eigen::VectorXd& losses, TargetTransform transform);

// The quantile function of the standard normal distribution; 0 < p < 1.
double NormalQuantile(double p);

}  // namespace sabia::tuner
