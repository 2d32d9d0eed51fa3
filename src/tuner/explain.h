// Why a search went the way it went: what the surrogate expects of a configuration, which
// parameters matter, and of what trials failed.
//
// Pure: computed from the trials alone. Milliseconds up to a few hundred trials.
#pragma once

#include "tuner/bayesian.h"

namespace sabia::tuner {

// In units of the objective. The range holds about two thirds of the probability.
struct Expectation {
  double objective = 0;
  double low = 0;
  double high = 0;
};

struct Importance {
  std::string parameter;
  // Of the variance of the surrogate's mean over the space: what is lost when this parameter alone,
  // with its interactions, is drawn anew (Sobol's total effect, by Jansen's estimator), scaled to a
  // sum of 1.
  double share = 0;
};

struct FailureGroup {
  std::string failure;               // the caller's words
  std::vector<std::int64_t> trials;  // numbers, ascending
};

struct Explanation {
  std::vector<std::optional<Expectation>> expectations;  // of the configurations asked about
  std::vector<Importance> importances;                   // descending
  std::vector<FailureGroup> failures;                    // the most frequent first
  std::size_t without_metric = 0;  // ended without failing, but with no objective
};

// Expectations and importances need at least two trials with different objectives; else there are
// none. Nothing is expected of a configuration that is not of the space.
Explanation Explain(Bayesian& strategy, std::span<const Trial> finished,
                    std::span<const Configuration> configurations);

}  // namespace sabia::tuner
