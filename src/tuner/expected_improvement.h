// The logarithm of the expected improvement, exact where the improvement itself is no longer a
// double.
//
// For a normal belief about a value to be minimised: log E[max(best - value, 0)]. Its gradient
// stays useful far from the best (Ament et al. 2023). Pure, thread-safe.
#pragma once

namespace sabia::tuner {

// log(phi(z) + z Phi(z)) and its derivative by z.
struct LogImprovement {
  double value = 0;
  double slope = 0;
};
LogImprovement StandardLogImprovement(double z);

}  // namespace sabia::tuner
