// The strategies of the benchmark by name.
#pragma once

#include <memory>

#include "problem.h"
#include "tuner/strategy.h"

namespace sabia::bench {

struct StrategyChoice {
  std::string name;      // random, sobol, bayesian
  std::string settings;  // NAME=VALUE,...; empty: the defaults
  std::uint64_t seed = 0;
};

std::unique_ptr<tuner::Strategy> MakeStrategy(const Problem& problem, const StrategyChoice& choice);

}  // namespace sabia::bench
