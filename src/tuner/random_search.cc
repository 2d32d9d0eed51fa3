#include "tuner/random_search.h"

#include "tuner/rng.h"
#include "tuner/sobol.h"
#include "tuner/taken.h"

namespace sabia::tuner {
namespace {
// Draws before a finite space is searched in order for what is left of it.
constexpr int kDrawsMax = 100;
}  // namespace

Point RandomSearch::PointOf(std::uint64_t n) const {
  if (options_.draw == Draw::kSobol) {
    return Sobol(options_.seed, space_.size()).At(static_cast<std::uint32_t>(n));
  }
  Rng rng(options_.seed, Stream{n});
  Point point(space_.size());
  for (double& coordinate : point) coordinate = rng.Uniform();
  return point;
}

std::optional<Suggestion> RandomSearch::Suggest(const Trials& trials) {
  const Taken taken(trials);
  const std::string reason =
      options_.draw == Draw::kSobol ? "quasi-random (Sobol sequence)" : "random";
  Configuration values = space_.Decode(PointOf(trials.size()));
  for (int draw = 1; taken.Has(values) && draw < kDrawsMax; ++draw) {
    // Far from the numbers that later trials use.
    Rng rng(options_.seed, Stream{Mix(trials.size()) + static_cast<std::uint64_t>(draw)});
    Point point(space_.size());
    for (double& coordinate : point) coordinate = rng.Uniform();
    values = space_.Decode(point);
  }
  if (!taken.Has(values)) return Suggestion{.values = std::move(values), .reason = reason};
  return FirstFree(space_, taken, reason);
}

}  // namespace sabia::tuner
