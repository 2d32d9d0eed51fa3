// When a search is over although its budget is not: a target reached, no improvement, convergence.
//
// Pure deciders over the finished trials, in the order in which they finished. Thread-safe.
#pragma once

#include <span>

#include "tuner/strategy.h"

namespace sabia::tuner {

// AWS: an improvement of less than 1 % is none.
inline constexpr double kImprovementShare = 0.01;

// The best trial with an objective; of equals the first. Nothing without one.
std::optional<std::size_t> BestTrial(std::span<const Trial> finished, Goal goal);

// TargetObjectiveMetricValue: whether some trial is at least as good.
bool TargetReached(std::span<const Trial> finished, Goal goal, double target);

// Trials with an objective since the last one that improved the best by kImprovementShare of it.
// The first trial with an objective is an improvement; failed trials do not count.
std::size_t TrialsNotImproving(std::span<const Trial> finished, Goal goal);
// BestObjectiveNotImproving.
bool StoppedImproving(std::span<const Trial> finished, Goal goal, std::size_t limit);

// ConvergenceDetected: at least kConvergenceTrialsMin trials, and the latest ones (three per
// parameter, at least kConvergenceWindow) moved the best by less than kConvergenceShare of the
// spread between the best and the median. Ours: AWS does not say how it decides.
inline constexpr std::size_t kConvergenceTrialsMin = 30;
inline constexpr std::size_t kConvergenceWindow = 20;
inline constexpr double kConvergenceShare = 0.001;
bool Converged(std::span<const Trial> finished, Goal goal, const Space& space);

}  // namespace sabia::tuner
