// The parameters of a booster, round by round, such that a resumed run ends in the same bytes as
// one that was never interrupted.
//
// XGBoost keeps random numbers in three places. The global generator is seeded for every round
// (seed_per_iteration). The column sampler lives in the tree updater from its first use on and
// cannot be saved, so whenever rows or columns are sampled the updater is made anew for each round:
// another tree method is set and taken back, with a seed of the round's own. And tree method approx
// cuts features into bins once, weighted by the rows that the first round sampled: a resumed run
// first repeats that round on a booster that is thrown away (Prime). The linear updater shotgun
// races its threads, so gblinear gets one thread unless the user asks for more.
//
// Equal bytes need the same library, data, parameters and number of threads. Threading:
// thread-compatible.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "algorithms/booster.h"
#include "algorithms/hyperparameters.h"

namespace sabia::algorithms {

class BoosterSchedule {
 public:
  // `threads`: what the machine offers; `rows` of the training matrix decide what tree_method auto
  // means.
  BoosterSchedule(const Hyperparameters& values, int library_major, std::size_t rows, int threads);

  // Sets everything on a booster that is new or was just loaded and will train `round` next.
  Status Begin(Booster& booster, int round, const std::vector<std::string>& metrics) const;
  // Before each round but the very first of a job, also in a resumed run.
  Status Continue(Booster& booster, int round) const;
  // Before the first round of a resumed run.
  Status Prime(const XgboostApi& api, const Matrix& train) const;

  int threads() const { return threads_; }

 private:
  Status SetAll(Booster& booster, int round) const;

  std::vector<std::pair<std::string, std::string>> parameters_;
  std::string updater_;
  int seed_;
  int threads_;
  bool renews_ = false;  // the updater is made anew each round
  bool primes_ = false;
};

}  // namespace sabia::algorithms
