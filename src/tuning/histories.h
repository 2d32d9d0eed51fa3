// Trials as records become trials as strategies see them. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/bayesian.h"
#include "tuning/search.h"

namespace sabia::tuning {

// The number of a trial among those of its definition, from 0.
std::int64_t NumberWithin(const model::TuningTrial& trial, const std::vector<TrialView>& trials);

struct Origin {
  std::int64_t seed = 0;
  const std::vector<ParentView>& parents;
  std::size_t index = 0;  // of the definition: each draws its own numbers
};
tuner::BayesianOptions BayesianOptionsFor(const Settings& settings, const Definition& definition,
                                          const Origin& origin);

}  // namespace sabia::tuning
