#include "tuner/testing/search.h"

#include <deque>

namespace sabia::tuner {

std::vector<Trial> RunSearch(Strategy& strategy, SearchOptions options,
                             const Objective& objective) {
  std::vector<Trial> finished;
  std::deque<Trial> pending;
  std::size_t created = 0;
  while (finished.size() < options.trials) {
    while (created < options.trials && pending.size() < options.parallel) {
      const std::vector<Trial> waiting(pending.begin(), pending.end());
      auto suggestion = strategy.Suggest({finished, waiting});
      if (!suggestion) break;
      pending.push_back({.number = static_cast<std::int64_t>(created++),
                         .values = std::move(suggestion->values)});
    }
    if (pending.empty()) break;
    Trial trial = std::move(pending.front());
    pending.pop_front();
    trial.objective = objective(trial.values);
    trial.outcome = trial.objective ? Outcome::kCompleted : Outcome::kFailed;
    finished.push_back(std::move(trial));
  }
  return finished;
}

double NumberAt(const Configuration& values, std::size_t n) { return std::stod(values.at(n)); }

}  // namespace sabia::tuner
