#include "tuner/transfer.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Pairs of trials that agree, imagined before the first: so much evidence it takes to lose trust.
constexpr double kPriorPairs = 6;

// Kendall's concordance with the prior pairs, in [-1, 1].
double Agreement(const VectorXd& predicted, const VectorXd& losses) {
  double agreeing = kPriorPairs;
  double pairs = kPriorPairs;
  for (Index i = 0; i < losses.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (losses[i] == losses[j]) continue;
      pairs += 1;
      const bool same = (losses[i] < losses[j]) == (predicted[i] < predicted[j]);
      agreeing += same ? 1 : -1;
    }
  }
  return agreeing / pairs;
}

}  // namespace

TransferPrior::TransferPrior(std::vector<std::shared_ptr<const GaussianProcess>> parents)
    : parents_(std::move(parents)) {}

VectorXd TransferPrior::WeightsFor(const MatrixXd& x, const VectorXd& losses) const {
  VectorXd weights(static_cast<Index>(parents_.size()));
  for (Index p = 0; p < weights.size(); ++p) {
    VectorXd predicted;
    VectorXd ignored;
    if (losses.size() > 0) {
      parents_[static_cast<std::size_t>(p)]->Predict(x, predicted, ignored);
    }
    weights[p] = std::max(0.0, Agreement(predicted, losses));
  }
  // Together they say at most as much as the best of them alone.
  const double sum = weights.sum();
  return sum > 0 ? VectorXd(weights * (weights.maxCoeff() / sum)) : weights;
}

PriorMean TransferPrior::MeanWith(const VectorXd& weights) const {
  PriorMean mean;
  for (Index p = 0; p < weights.size(); ++p) {
    if (weights[p] > 0) mean.emplace_back(weights[p], parents_[static_cast<std::size_t>(p)]);
  }
  return mean;
}

}  // namespace sabia::tuner
