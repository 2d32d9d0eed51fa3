// What earlier searches say about this one: a prior mean from the surrogates of parent jobs.
//
// Each parent's surrogate predicts the (standardised) targets; it counts by how well its ranking of
// this search's trials agrees with what they reached, starting from full trust. A parent that
// misleads is soon not listened to. Pure, thread-safe after construction.
#pragma once

#include <memory>
#include <vector>

#include "tuner/gaussian_process.h"

namespace sabia::tuner {

class TransferPrior {
 public:
  TransferPrior() = default;
  explicit TransferPrior(std::vector<std::shared_ptr<const GaussianProcess>> parents);

  bool empty() const { return parents_.empty(); }
  // Weights for what was seen: the columns of x with their losses.
  Eigen::VectorXd WeightsFor(const Eigen::MatrixXd& x, const Eigen::VectorXd& losses) const;
  PriorMean MeanWith(const Eigen::VectorXd& weights) const;

 private:
  std::vector<std::shared_ptr<const GaussianProcess>> parents_;
};

}  // namespace sabia::tuner
