// Runs a strategy against a function, for tests.
#pragma once

#include <functional>

#include "tuner/strategy.h"

namespace sabia::tuner {

struct SearchOptions {
  std::size_t trials = 20;
  std::size_t parallel = 1;
};

// The finished trials in the order in which they finished. The objective of a configuration may be
// nothing: that trial failed. Stops early when the strategy has nothing to suggest.
using Objective = std::function<std::optional<double>(const Configuration&)>;
std::vector<Trial> RunSearch(Strategy& strategy, SearchOptions options, const Objective& objective);

// The n-th value of a configuration as a number.
double NumberAt(const Configuration& values, std::size_t n);

}  // namespace sabia::tuner
