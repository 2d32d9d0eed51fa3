#include "tuner/expected_improvement.h"

#include <cmath>
#include <numbers>

namespace sabia::tuner {
namespace {
const double kLogRoot2Pi = 0.5 * std::log(2 * std::numbers::pi);
// Below, 1 - t Q(t)/phi(t) loses digits; above, the continued fraction needs few terms.
constexpr double kTail = -3;
constexpr int kTerms = 40;
}  // namespace

LogImprovement StandardLogImprovement(double z) {
  if (z > kTail) {
    const double density = std::exp(-0.5 * z * z - kLogRoot2Pi);
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const double improvement = density + z * below;
    return {std::log(improvement), below / improvement};
  }
  // Mills' ratio is 1/(t + C) with C = 1/(t + 2/(t + 3/(t + ...))), so that
  // phi + z Phi = phi (1 - t/(t + C)) = phi C/(t + C), without a difference of near equals.
  const double t = -z;
  double fraction = t;
  for (int k = kTerms; k >= 2; --k) fraction = t + k / fraction;
  const double c = 1 / fraction;
  return {-0.5 * z * z - kLogRoot2Pi + std::log(c) - std::log(t + c), fraction};
}

}  // namespace sabia::tuner
