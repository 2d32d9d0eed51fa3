#include "tuner/targets.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kPowerMin = -1;
constexpr double kPowerMax = 3;
constexpr int kPowerSteps = 40;  // of the golden section: 0.618^40 of the range
constexpr double kWhiskers = 3;  // inter-quartile ranges above the median that are left alone
constexpr double kDeviationMin = 1e-12;  // of the largest loss: below, all losses are one

VectorXd Standardised(VectorXd y) {
  const double scale = std::max(1.0, y.cwiseAbs().maxCoeff());
  y.array() -= y.mean();
  const double deviation = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
  if (!(deviation > kDeviationMin * scale)) return VectorXd::Zero(y.size());
  return y / deviation;
}

std::vector<Index> Order(const VectorXd& losses) {
  std::vector<Index> order(static_cast<std::size_t>(losses.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return losses[a] < losses[b]; });
  return order;
}

double Quantile(const VectorXd& losses, double share) {
  const std::vector<Index> order = Order(losses);
  return losses[order[static_cast<std::size_t>(share * static_cast<double>(order.size() - 1))]];
}

double YeoJohnson(double y, double power) {
  if (y >= 0) {
    if (std::abs(power) < 1e-9) return std::log1p(y);
    return std::expm1(power * std::log1p(y)) / power;
  }
  const double mirrored = 2 - power;
  if (std::abs(mirrored) < 1e-9) return -std::log1p(-y);
  return -std::expm1(mirrored * std::log1p(-y)) / mirrored;
}

VectorXd YeoJohnson(const VectorXd& y, double power) {
  return y.unaryExpr([power](double v) { return YeoJohnson(v, power); });
}

// The normal log-likelihood of the transformed values, up to a constant.
double PowerLikelihood(const VectorXd& y, double power) {
  const VectorXd t = YeoJohnson(y, power);
  const auto n = static_cast<double>(y.size());
  const double variance = (t.array() - t.mean()).square().sum() / n;
  const double jacobian = (y.array().sign() * (1 + y.array().abs()).log()).sum() * (power - 1);
  return -0.5 * n * std::log(variance + 1e-300) + jacobian;
}

VectorXd Power(const VectorXd& losses) {
  // By median and quartiles: one huge loss would squeeze all others into a point.
  const double range = Quantile(losses, 0.75) - Quantile(losses, 0.25);
  const VectorXd y = range > kDeviationMin * losses.cwiseAbs().maxCoeff()
                         ? VectorXd((losses.array() - Quantile(losses, 0.5)) / range)
                         : Standardised(losses);
  const double golden = 1 / std::numbers::phi;
  double low = kPowerMin;
  double high = kPowerMax;
  for (int i = 0; i < kPowerSteps; ++i) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    (PowerLikelihood(y, left) > PowerLikelihood(y, right) ? high : low) =
        PowerLikelihood(y, left) > PowerLikelihood(y, right) ? right : left;
  }
  return YeoJohnson(y, 0.5 * (low + high));
}

VectorXd Winsorised(VectorXd losses) {
  const double range = Quantile(losses, 0.75) - Quantile(losses, 0.25);
  if (!(range > 0)) return losses;
  const double limit = Quantile(losses, 0.5) + kWhiskers * range;
  // Not cut but bent: the worst keep their order.
  return losses.unaryExpr(
      [&](double v) { return v <= limit ? v : limit + range * std::log1p((v - limit) / range); });
}

// Normal quantiles of the (mean) ranks.
VectorXd Ranked(const VectorXd& losses) {
  const std::vector<Index> order = Order(losses);
  const auto n = static_cast<double>(order.size());
  VectorXd ranked(losses.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && losses[order[end]] == losses[order[i]]) ++end;
    const double middle = 0.5 * static_cast<double>(i + end - 1);
    for (; i < end; ++i) ranked[order[i]] = NormalQuantile((middle + 0.5) / n);
  }
  return ranked;
}

// Keeps the distances among the better half; the worse half gets the quantiles of a normal
// distribution whose width the better half tells.
VectorXd HalfRanked(VectorXd losses) {
  const VectorXd ranked = Ranked(losses);
  const std::vector<Index> order = Order(losses);
  const std::size_t half = (order.size() + 1) / 2;
  const double median = losses[order[half - 1]];
  double squares = 0;
  for (std::size_t i = 0; i < half; ++i) squares += std::pow(losses[order[i]] - median, 2);
  const double width = std::sqrt(squares / static_cast<double>(half));
  if (!(width > 0)) return ranked;
  const double middle = ranked[order[half - 1]];
  for (std::size_t i = half; i < order.size(); ++i) {
    losses[order[i]] = median + width * (ranked[order[i]] - middle);
  }
  return losses;
}

}  // namespace

double NormalQuantile(double p) {
  // Bisection first, then Newton's steps on erfc: exact to rounding.
  double low = -40;
  double high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

VectorXd TransformTargets(const VectorXd& losses, TargetTransform transform) {
  switch (transform) {
    case TargetTransform::kNone:
      return Standardised(losses);
    case TargetTransform::kWinsorised:
      return Standardised(Winsorised(losses));
    case TargetTransform::kPower:
      return Standardised(Power(losses));
    case TargetTransform::kRank:
      return Standardised(Ranked(losses));
    case TargetTransform::kHalfRank:
      return Standardised(HalfRanked(losses));
  }
  return losses;
}

}  // namespace sabia::tuner
