#include "tuner/lbfgs.h"

#include <cmath>
#include <deque>

namespace sabia::tuner {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kMemory = 8;
constexpr double kArmijo = 1e-4;  // of the promised decrease that a step must bring
constexpr double kShrink = 0.4;
constexpr int kBacktracksMax = 12;

struct Pair {
  VectorXd step;
  VectorXd change;  // of the gradient
  double product = 0;
};

// The inverse Hessian's estimate times the gradient (Nocedal's two loops).
VectorXd Direction(const std::deque<Pair>& pairs, const VectorXd& gradient) {
  VectorXd q = gradient;
  std::vector<double> alphas(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alphas[i] = pairs[i].step.dot(q) / pairs[i].product;
    q -= alphas[i] * pairs[i].change;
  }
  if (!pairs.empty()) q *= pairs.back().product / pairs.back().change.squaredNorm();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = pairs[i].change.dot(q) / pairs[i].product;
    q += (alphas[i] - beta) * pairs[i].step;
  }
  return -q;
}

}  // namespace

Minimum MinimizeLbfgs(const SmoothFunction& function, VectorXd start, const LbfgsOptions& options) {
  VectorXd gradient(start.size());
  Minimum best{.x = std::move(start)};
  best.value = function(best.x, gradient);
  best.evaluations = 1;
  std::deque<Pair> pairs;
  VectorXd next_gradient(gradient.size());
  for (int i = 0; i < options.iterations_max && std::isfinite(best.value); ++i) {
    VectorXd direction = Direction(pairs, gradient);
    if (direction.dot(gradient) >= 0) {
      pairs.clear();
      direction = -gradient;
    }
    const double largest = direction.cwiseAbs().maxCoeff();
    if (!(largest > 0)) break;
    double length = std::min(1.0, options.step_max / largest);
    const double slope = direction.dot(gradient);
    VectorXd next;
    double value = 0;
    bool accepted = false;
    for (int b = 0; b < kBacktracksMax && best.evaluations < options.evaluations_max; ++b) {
      next = best.x + length * direction;
      value = function(next, next_gradient);
      ++best.evaluations;
      accepted = std::isfinite(value) && value <= best.value + kArmijo * length * slope;
      if (accepted) break;
      length *= kShrink;
    }
    if (!accepted) break;
    Pair pair{next - best.x, next_gradient - gradient};
    pair.product = pair.step.dot(pair.change);
    if (pair.product > 1e-12 * pair.change.squaredNorm()) pairs.push_back(std::move(pair));
    if (pairs.size() > kMemory) pairs.pop_front();
    const double gain = best.value - value;
    best.x = std::move(next);
    best.value = value;
    std::swap(gradient, next_gradient);
    if (gain < options.relative_tolerance * (1 + std::abs(value))) break;
  }
  return best;
}

}  // namespace sabia::tuner
