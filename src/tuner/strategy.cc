#include "tuner/strategy.h"

#include <cmath>

namespace sabia::tuner {

std::optional<double> Loss(const Trial& trial, Goal goal) {
  if (trial.outcome == Outcome::kFailed || !trial.objective) return {};
  if (!std::isfinite(*trial.objective)) return {};
  return goal == Goal::kMinimize ? *trial.objective : -*trial.objective;
}

}  // namespace sabia::tuner
