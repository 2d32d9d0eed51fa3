#include "tuner/taken.h"

namespace sabia::tuner {

Taken::Taken(const Trials& trials) {
  for (const Trial& trial : trials.finished) values_.insert(trial.values);
  for (const Trial& trial : trials.pending) values_.insert(trial.values);
}

std::optional<Suggestion> FirstFree(const Space& space, const Taken& taken,
                                    const std::string& reason) {
  const std::uint64_t count = space.Count();
  if (count == kUncountable) return {};
  // Of size + 1 configurations one is free.
  for (std::uint64_t n = 0; n < count && n <= taken.size(); ++n) {
    Configuration values = space.Nth(n);
    if (!taken.Has(values)) return Suggestion{.values = std::move(values), .reason = reason};
  }
  return {};
}

}  // namespace sabia::tuner
