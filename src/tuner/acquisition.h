// Where the expected improvement is largest: the search inside a suggestion.
//
// Points are always such that a configuration has them (integers and categories snapped), so what
// is compared is what will be tried. Deterministic for a seed. Thread-compatible.
#pragma once

#include <functional>
#include <optional>

#include "tuner/gaussian_process.h"
#include "tuner/rng.h"
#include "tuner/taken.h"

namespace sabia::tuner {

// Bounds of the search per coordinate; a trust region is smaller than the cube.
struct Box {
  Eigen::VectorXd low;
  Eigen::VectorXd high;
};

struct AcquisitionOptions {
  int global_candidates = 400;
  int local_candidates = 200;
  int starts = 4;                       // candidates that are refined
  int climbs = 20;                      // gradient steps each
  std::uint64_t enumerated_max = 1000;  // a space this small is looked through
  // Of the coordinates that a local candidate changes on average.
  double changed_coordinates = 2;
};

// An addend to log EI for each column, such as what a trial costs, as a logarithm; may be empty.
using Preference = std::function<Eigen::VectorXd(const Eigen::MatrixXd& x)>;

class Acquisition {
 public:
  struct Parts {
    const Space& space;
    const GaussianProcess& process;
    const Taken& taken;
    Box box;
    Preference preference;
  };
  Acquisition(Parts parts, AcquisitionOptions options);

  struct Choice {
    Point point;
    double log_improvement = 0;
    GaussianProcess::Prediction prediction;
  };
  // Nothing when every configuration that was looked at is taken.
  std::optional<Choice> Best(Rng rng) const;

 private:
  Eigen::MatrixXd Candidates(Rng& rng) const;
  Eigen::MatrixXd Everything() const;
  void Mutate(Rng& rng, Eigen::VectorXd& x) const;
  Eigen::VectorXd Values(const Eigen::MatrixXd& x) const;
  Eigen::VectorXd Snapped(const Eigen::VectorXd& x) const;
  bool IsFree(const Eigen::VectorXd& x) const;
  double ClimbValue(const std::vector<Eigen::Index>& free, const Eigen::VectorXd& t,
                    Eigen::VectorXd& x, Eigen::VectorXd& gradient) const;
  void Climb(Eigen::VectorXd& x, double& value) const;
  bool Step(Eigen::VectorXd& x, double& value) const;
  std::vector<double> Neighbours(Eigen::Index d, double coordinate) const;

  Parts parts_;
  AcquisitionOptions options_;
  double best_mean_ = 0;
};

}  // namespace sabia::tuner
