#include "tuner/completion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabia::tuner {

std::optional<std::size_t> BestTrial(std::span<const Trial> finished, Goal goal) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const auto loss = Loss(finished[i], goal);
    if (!loss || (best && *loss >= least)) continue;
    best = i;
    least = *loss;
  }
  return best;
}

bool TargetReached(std::span<const Trial> finished, Goal goal, double target) {
  const auto best = BestTrial(finished, goal);
  if (!best) return false;
  const double value = *finished[*best].objective;
  return goal == Goal::kMinimize ? value <= target : value >= target;
}

std::size_t TrialsNotImproving(std::span<const Trial> finished, Goal goal) {
  std::optional<double> best;
  std::size_t since = 0;
  for (const Trial& trial : finished) {
    const auto loss = Loss(trial, goal);
    if (!loss) continue;
    const bool improved =
        !best || (*loss < *best && *best - *loss >= kImprovementShare * std::abs(*best));
    since = improved ? 0 : since + 1;
    // Many small improvements add up to a large one: the mark moves by large ones only.
    if (improved) best = loss;
  }
  return since;
}

bool StoppedImproving(std::span<const Trial> finished, Goal goal, std::size_t limit) {
  return TrialsNotImproving(finished, goal) >= limit;
}

bool Converged(std::span<const Trial> finished, Goal goal, const Space& space) {
  std::vector<double> losses;
  for (const Trial& trial : finished) {
    if (const auto loss = Loss(trial, goal)) losses.push_back(*loss);
  }
  std::size_t varied = 0;
  for (std::size_t d = 0; d < space.size(); ++d) varied += space[d].IsConstant() ? 0 : 1;
  const std::size_t window = std::max(kConvergenceWindow, 3 * varied);
  if (losses.size() < std::max(kConvergenceTrialsMin, window + 1)) return false;
  const auto latest = losses.end() - static_cast<std::ptrdiff_t>(window);
  const double before = *std::min_element(losses.begin(), latest);
  const double now = std::min(before, *std::min_element(latest, losses.end()));
  std::ranges::sort(losses);
  const double spread = losses[losses.size() / 2] - losses.front();
  return before - now <= kConvergenceShare * spread;
}

}  // namespace sabia::tuner
