#include "algorithms/booster_schedule.h"

#include <array>
#include <cstdint>

namespace sabia::algorithms {
namespace {

// tree_method auto, as the libraries resolve it for data in memory: exact up to 4 Mi rows, then
// approx, and always hist from 2.0 on. Made explicit because the choice must not depend on what was
// set before.
std::string ResolveTreeMethod(const std::string& method, int library_major, std::size_t rows) {
  constexpr std::size_t kExactRowsMax = std::size_t{4} << 20;
  if (method != "auto") return method;
  if (library_major >= 2) return "hist";
  return rows < kExactRowsMax ? "exact" : "approx";
}

// A seed for one round (SplitMix64 over seed and round), not negative.
int SeedOfRound(int seed, int round) {
  std::uint64_t z = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed)) << 32) +
                    static_cast<std::uint32_t>(round) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<int>((z ^ (z >> 31)) & 0x7fffffff);
}

}  // namespace

BoosterSchedule::BoosterSchedule(const Hyperparameters& values, int library_major, std::size_t rows,
                                 int threads)
    : parameters_(values.library), updater_(values.updater), seed_(values.seed) {
  const bool linear = values.booster == "gblinear";
  threads_ = values.threads.value_or(linear ? 1 : threads);
  parameters_.emplace_back("nthread", fmt::format("{}", threads_));
  parameters_.emplace_back("seed_per_iteration", "1");
  if (linear) return;
  const std::string method = ResolveTreeMethod(values.tree_method, library_major, rows);
  parameters_.emplace_back("tree_method", method);  // later values win
  const bool updates = updater_.find("refresh") != std::string::npos || updater_ == "prune";
  renews_ = values.samples && !updates && (method != "exact" || !updater_.empty());
  primes_ = values.samples &&
            (method == "approx" || updater_.find("grow_histmaker") != std::string::npos);
}

Status BoosterSchedule::SetAll(Booster& booster, int round) const {
  for (const auto& [name, value] : parameters_) RETURN_IF_ERROR(booster.Set(name, value));
  return booster.Set("seed", fmt::format("{}", renews_ ? SeedOfRound(seed_, round) : seed_));
}

Status BoosterSchedule::Begin(Booster& booster, int round,
                              const std::vector<std::string>& metrics) const {
  RETURN_IF_ERROR(SetAll(booster, round));
  for (const std::string& metric : metrics) RETURN_IF_ERROR(booster.Set("eval_metric", metric));
  return {};
}

Status BoosterSchedule::Continue(Booster& booster, int round) const {
  if (!renews_) return {};
  // Another round's seed meanwhile: only a seed that changes reseeds the generator, from which a
  // new updater draws.
  RETURN_IF_ERROR(SetAll(booster, round + 1));
  RETURN_IF_ERROR(updater_.empty() ? booster.Set("tree_method", "exact")
                                   : booster.Set("updater", "prune"));
  RETURN_IF_ERROR(booster.Rounds());  // lets it take effect: the old updater is gone
  return SetAll(booster, round);
}

Status BoosterSchedule::Prime(const XgboostApi& api, const Matrix& train) const {
  if (!primes_) return {};
  const std::array<const Matrix*, 1> matrices = {&train};
  ASSIGN_OR_RETURN(Booster booster, Booster::Create(api, matrices));
  RETURN_IF_ERROR(Begin(booster, 0, {}));
  return booster.Update(0, train);
}

}  // namespace sabia::algorithms
