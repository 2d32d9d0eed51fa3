// The 24 noiseless functions of the black-box optimization benchmark (BBOB), for tests and
// benchmarks.
//
// Written from the definitions in Hansen, Finck, Ros and Auger, "Real-Parameter Black-Box
// Optimization Benchmarking 2009: Noiseless Functions Definitions" (INRIA RR-6829). Shifts and
// rotations come from our own seeded generator, so values differ from COCO's instances of the same
// number. The domain is
// [-5, 5] in each of at least 2 dimensions. Immutable, thread-safe.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

namespace sabia::tuner {

inline constexpr int kBbobFunctions = 24;
inline constexpr double kBbobBound = 5;

class Bbob {
 public:
  struct Instance {
    int function = 1;  // 1 to 24
    int dimensions = 2;
    std::uint64_t seed = 0;
  };
  explicit Bbob(Instance instance);

  double Value(const Eigen::VectorXd& x) const;
  const Eigen::VectorXd& best_point() const { return best_point_; }
  double best_value() const { return best_value_; }
  static std::string Name(int function);

 private:
  double Shape(const Eigen::VectorXd& x) const;
  double Separable(const Eigen::VectorXd& x) const;
  double Conditioned(const Eigen::VectorXd& x) const;
  double IllConditioned(const Eigen::VectorXd& x) const;
  double Multimodal(const Eigen::VectorXd& x) const;
  double WeaklyStructured(const Eigen::VectorXd& x) const;
  double Gallagher(const Eigen::VectorXd& x) const;
  void PlaceOptimum();
  void PlacePeaks();

  Instance instance_;
  Eigen::Index size_;
  Eigen::MatrixXd r_;  // the two rotations
  Eigen::MatrixXd q_;
  Eigen::VectorXd best_point_;
  Eigen::VectorXd signs_;  // of -1 and 1
  double best_value_ = 0;
  struct Peak {
    Eigen::VectorXd place;
    Eigen::VectorXd curvature;
    double height = 0;
  };
  std::vector<Peak> peaks_;
};

}  // namespace sabia::tuner
