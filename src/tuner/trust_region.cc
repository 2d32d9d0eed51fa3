#include "tuner/trust_region.h"

#include <algorithm>
#include <cmath>

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kSideStart = 0.8;
constexpr double kSideMax = 1.6;
constexpr double kSideMin = 0.0078125;  // 2^-7: below, the region starts anew
constexpr int kSuccessesToGrow = 3;
// A quarter of the parameters: a budget of a hundred trials must see several shrink steps.
constexpr int kFailuresMin = 4;
constexpr double kSuccessShare = 1e-3;  // of the best loss, that counts as an improvement
constexpr double kStretchMax = 4;

}  // namespace

double TrustRegionSide(const VectorXd& losses, std::size_t parameters) {
  const int failures_to_shrink = std::max(kFailuresMin, static_cast<int>(parameters) / 4);
  double side = kSideStart;
  double best = losses.size() > 0 ? losses[0] : 0;
  int successes = 0;
  int failures = 0;
  for (Index i = 1; i < losses.size(); ++i) {
    const bool success = losses[i] < best - kSuccessShare * std::abs(best);
    best = std::min(best, losses[i]);
    successes = success ? successes + 1 : 0;
    failures = success ? 0 : failures + 1;
    if (successes >= kSuccessesToGrow) {
      side = std::min(2 * side, kSideMax);
      successes = 0;
    }
    if (failures >= failures_to_shrink) {
      side /= 2;
      failures = 0;
    }
    if (side < kSideMin) side = kSideStart;
  }
  return side;
}

Box TrustRegionBox(const GaussianProcess& process, const VectorXd& centre, double side) {
  const VectorXd logs = process.theta().segment(2, centre.size());
  Box box{centre, centre};
  for (Index d = 0; d < centre.size(); ++d) {
    const double stretch =
        std::clamp(std::exp(logs[d] - logs.mean()), 1 / kStretchMax, kStretchMax);
    box.low[d] = std::clamp(centre[d] - 0.5 * side * stretch, 0.0, 1.0);
    box.high[d] = std::clamp(centre[d] + 0.5 * side * stretch, 0.0, 1.0);
  }
  return box;
}

}  // namespace sabia::tuner
