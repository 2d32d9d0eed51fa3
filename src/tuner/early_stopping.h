// The median rule: whether a running trial is worth going on with.
//
// As AWS documents early stopping: at an epoch, take the running average of the objective of every
// earlier trial up to that epoch; a trial whose objective is worse than the median of those
// averages is stopped. Pure, thread-safe.
#pragma once

#include <span>

#include "tuner/strategy.h"

namespace sabia::tuner {

struct EarlyStoppingOptions {
  Goal goal = Goal::kMinimize;
  // Earlier trials that must have reached the epoch. AWS names no number; a median of fewer than
  // three says little.
  std::size_t previous_min = 3;
};

struct EarlyStop {
  std::int64_t resource = 0;  // the epoch that decided
  double value = 0;           // the trial's objective there
  double median = 0;          // of the running averages
};

// Nothing: go on. Looks at the trial's latest measurement only, so call it at every new one.
std::optional<EarlyStop> MedianRule(const Trial& running, std::span<const Trial> previous,
                                    const EarlyStoppingOptions& options);

}  // namespace sabia::tuner
