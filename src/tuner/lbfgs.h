// Minimises a smooth function of a few dozen variables: L-BFGS with a backtracking line search.
#pragma once

#include <Eigen/Dense>
#include <functional>

namespace sabia::tuner {

// The value at x; fills the gradient. Infinity (or NaN) where the function is not defined.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct LbfgsOptions {
  int iterations_max = 50;
  int evaluations_max = 100;
  double relative_tolerance = 1e-6;  // of the value, between iterations
  double step_max = 1;               // of any variable in one step
};

struct Minimum {
  Eigen::VectorXd x;
  double value = 0;
  int evaluations = 0;
};

Minimum MinimizeLbfgs(const SmoothFunction& function, Eigen::VectorXd start,
                      const LbfgsOptions& options);

}  // namespace sabia::tuner
