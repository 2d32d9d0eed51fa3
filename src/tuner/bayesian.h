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

namespace sabia::tuner {

// Of more trials, the best and the latest are modelled.
inline constexpr std::size_t kTrialsModelled = 600;

struct BayesianOptions {
  std::uint64_t seed = 0;
  Goal goal = Goal::kMinimize;
  std::size_t initial_trials = 0;  // 0: by the number of parameters
  TargetTransform transform = TargetTransform::kPower;
  GpPriors priors;
  bool warped = true;
  AcquisitionOptions acquisition;
};

class Bayesian : public Strategy {
 public:
  Bayesian(Space space, BayesianOptions options);
  ~Bayesian() override;
  std::optional<Suggestion> Suggest(const Trials& trials) override;

 private:
  struct Fit;
  struct Model;
  std::optional<Suggestion> Initial(const Trials& trials, const std::string& reason) const;
  const GpTheta& ThetaFor(const Trials& trials);
  GpData DataOf(std::span<const Trial> finished) const;

  Space space_;
  BayesianOptions options_;
  GpShape shape_;
  std::vector<Fit> fits_;
};

}  // namespace sabia::tuner
