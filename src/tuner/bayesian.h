// Bayesian search: a Gaussian process over the trials so far, and the configuration that it expects
// to improve most.
//
// The first trials are quasi-random. Hyperparameters of the process are fitted at fixed numbers of
// finished trials, each time from where the last fit ended; a new strategy replays those fits, so
// its suggestions are those of the old one, bit by bit. Pending trials count at the value that the
// process expects of them. Failed trials count as the worst value seen: the search leaves where
// trials fail.
//
// Time per suggestion: see docs/benchmarks.md.  Memory: O(kTrialsModelled^2).
#pragma once

#include <memory>

#include "tuner/acquisition.h"
#include "tuner/strategy.h"
#include "tuner/targets.h"
#include "tuner/transfer.h"

namespace sabia::tuner {

// Of more trials, the best and the latest are modelled.
inline constexpr std::size_t kTrialsModelled = 600;
// And of those, fewer for the hyperparameters, whose fit takes dozens of decompositions.
inline constexpr std::size_t kTrialsFitted = 150;

// An earlier tuning job that this one starts from.
struct ParentJob {
  std::vector<Trial> finished;  // values in the order of this job's space
  bool identical = false;       // IdenticalDataAndAlgorithm; else TransferLearning
};

struct BayesianOptions {
  std::uint64_t seed = 0;
  Goal goal = Goal::kMinimize;
  std::size_t initial_trials = 0;  // 0: by the number of parameters
  TargetTransform transform = TargetTransform::kPower;
  GpPriors priors;
  bool warped = true;
  AcquisitionOptions acquisition;
  // Divides the expected improvement by the expected seconds to this power; 0: time does not
  // matter.
  double cost_exponent = 0;
  std::vector<ParentJob> parents;
};

class Bayesian : public Strategy {
 public:
  Bayesian(Space space, BayesianOptions options);
  ~Bayesian() override;
  std::optional<Suggestion> Suggest(const Trials& trials) override;

  const Space& space() const { return space_; }
  const BayesianOptions& options() const { return options_; }

  // The process after these trials, with the targets that it was given and the losses behind them.
  // Nothing when no trial has an objective.
  struct Surrogate {
    GaussianProcess process;
    Eigen::VectorXd targets;
    std::vector<double> losses;
  };
  std::optional<Surrogate> SurrogateOf(std::span<const Trial> finished);

 private:
  struct Fit;
  struct Observed;
  std::optional<Suggestion> Initial(const Trials& trials, const std::string& reason) const;
  std::optional<Suggestion> FromParents(const Trials& trials) const;
  void ModelParents();
  Observed Observe(std::span<const Trial> finished) const;
  static Observed Chosen(const Observed& all, std::size_t limit);
  const GpTheta& ThetaFor(std::span<const Trial> finished);
  std::size_t KnownFits(std::span<const Trial> finished) const;
  Fit FitTo(std::span<const Trial> finished) const;
  GaussianProcess WithPending(GaussianProcess process, std::span<const Trial> pending) const;
  Box BoxFor(const GaussianProcess& process, const Observed& observed) const;
  Preference PreferenceFor(std::span<const Trial> finished) const;

  Space space_;
  BayesianOptions options_;
  GpShape shape_;
  TransferPrior transfer_;
  std::vector<Trial> inherited_;            // of identical parents
  std::vector<Configuration> recommended_;  // the best of the other parents
  std::vector<Fit> fits_;
};

}  // namespace sabia::tuner
