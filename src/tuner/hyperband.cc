#include "tuner/hyperband.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tuner/random_search.h"

namespace sabia::tuner {
namespace {

// Rungs from the largest resource downwards, each a reduction-th of the one above.
std::vector<std::int64_t> RungsBelow(const HyperbandOptions& options) {
  std::vector<std::int64_t> rungs;
  auto rung = static_cast<double>(options.max_resource);
  while (std::floor(rung + 1e-9) >= static_cast<double>(options.min_resource)) {
    rungs.insert(rungs.begin(), static_cast<std::int64_t>(std::floor(rung + 1e-9)));
    rung /= options.reduction;
  }
  return rungs;
}

}  // namespace

// Which trials went on from which.
struct Hyperband::Chains {
  std::set<std::int64_t> continued;
  std::map<std::int64_t, std::int64_t> previous;

  std::int64_t FirstOf(std::int64_t number) const {
    // As many steps as there are links, should a caller have tied a loop.
    for (std::size_t step = 0; step < previous.size(); ++step) {
      const auto found = previous.find(number);
      if (found == previous.end()) break;
      number = found->second;
    }
    return number;
  }
};

Hyperband::Hyperband(HyperbandOptions options, std::unique_ptr<Strategy> source)
    : options_(options), source_(std::move(source)) {
  const std::vector<std::int64_t> rungs = RungsBelow(options_);
  const std::size_t count = options_.one_bracket ? 1 : rungs.size();
  for (std::size_t skipped = 0; skipped < count; ++skipped) {
    Bracket bracket;
    bracket.rungs.assign(rungs.begin() + static_cast<std::ptrdiff_t>(skipped), rungs.end());
    // Hyperband's n = ceil((s_max + 1) / (s + 1) reduction^s) for s halvings.
    const std::size_t halvings = bracket.rungs.size() - 1;
    const double n = static_cast<double>(rungs.size()) / static_cast<double>(halvings + 1) *
                     std::pow(options_.reduction, static_cast<double>(halvings));
    bracket.share = static_cast<std::uint64_t>(std::ceil(n - 1e-9));
    brackets_.push_back(std::move(bracket));
  }
}

Result<Hyperband> Hyperband::Create(Space space, HyperbandOptions options,
                                    std::unique_ptr<Strategy> source) {
  if (options.min_resource < 1) {
    return Fail(ErrorCode::kInvalidArgument, "MinResource is {}; it must be at least 1",
                options.min_resource);
  }
  if (options.max_resource < options.min_resource || options.max_resource > kResourceMax) {
    return Fail(ErrorCode::kInvalidArgument, "MaxResource is {}; it must be within {} and {}",
                options.max_resource, options.min_resource, kResourceMax);
  }
  if (options.reduction < 2) {
    return Fail(ErrorCode::kInvalidArgument, "the reduction factor is {}; it must be at least 2",
                options.reduction);
  }
  if (source == nullptr) {
    source =
        std::make_unique<RandomSearch>(std::move(space), RandomSearchOptions{.seed = options.seed});
  }
  return Hyperband(options, std::move(source));
}

const Bracket& Hyperband::BracketOf(std::int64_t number) const {
  std::uint64_t round = 0;
  for (const Bracket& bracket : brackets_) round += bracket.share;
  auto place = static_cast<std::uint64_t>(number) % round;
  for (const Bracket& bracket : brackets_) {
    if (place < bracket.share) return bracket;
    place -= bracket.share;
  }
  return brackets_.back();
}

std::optional<double> Hyperband::LossAt(const Trial& trial, std::int64_t rung) const {
  if (trial.curve.empty() || trial.curve.back().resource < rung) return {};
  std::optional<double> loss;
  for (const Measurement& measurement : trial.curve) {
    // A trial that measures seldom counts with what it had at the rung, or with its first value.
    if (measurement.resource > rung && loss) break;
    const double value = options_.goal == Goal::kMinimize ? measurement.value : -measurement.value;
    loss = std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }
  return loss;
}

bool Hyperband::AmongBest(double loss, std::vector<double> others) const {
  if (!std::isfinite(loss)) return false;
  others.push_back(loss);
  const std::size_t keep = others.size() / static_cast<std::size_t>(options_.reduction);
  if (keep == 0) return false;
  std::ranges::nth_element(others, others.begin() + static_cast<std::ptrdiff_t>(keep - 1));
  return loss <= others[keep - 1];
}

Verdict Hyperband::Judge(const Trial& running, std::span<const Trial> others) const {
  const Bracket& bracket = BracketOf(running.number);
  if (running.curve.empty()) return Verdict::kContinue;
  const std::int64_t reached = running.curve.back().resource;
  const std::int64_t before =
      running.curve.size() < 2 ? 0 : running.curve[running.curve.size() - 2].resource;
  for (const std::int64_t rung : bracket.rungs) {
    // Only at the measurement that passes the rung; the last rung is the end anyway.
    if (rung > reached || rung <= before || rung == bracket.rungs.back()) continue;
    std::vector<double> losses;
    for (const Trial& other : others) {
      if (other.number == running.number || &BracketOf(other.number) != &bracket) continue;
      if (const auto loss = LossAt(other, rung)) losses.push_back(*loss);
    }
    // The first ones at a rung have nobody to compare with.
    if (losses.size() + 1 < static_cast<std::size_t>(options_.reduction)) continue;
    if (!AmongBest(*LossAt(running, rung), std::move(losses))) return Verdict::kStop;
  }
  return Verdict::kContinue;
}

// The best at a rung that nobody went on with, if any.
std::optional<Suggestion> Hyperband::PromotionAt(const Bracket& bracket, std::size_t rung,
                                                 const Trials& trials, const Chains& chains) const {
  std::vector<std::pair<double, const Trial*>> arrived;
  for (const Trial& trial : trials.finished) {
    if (trial.resource != bracket.rungs[rung]) continue;
    if (&BracketOf(chains.FirstOf(trial.number)) != &bracket) continue;
    // One that failed arrived too, as the worst.
    const bool failed = trial.outcome == Outcome::kFailed;
    const auto loss = failed ? std::nullopt : LossAt(trial, bracket.rungs[rung]);
    arrived.emplace_back(loss.value_or(std::numeric_limits<double>::infinity()), &trial);
  }
  std::ranges::stable_sort(arrived, {}, [](const auto& entry) { return entry.first; });
  const std::size_t keep = arrived.size() / static_cast<std::size_t>(options_.reduction);
  for (std::size_t i = 0; i < keep && std::isfinite(arrived[i].first); ++i) {
    const Trial& trial = *arrived[i].second;
    if (chains.continued.contains(trial.number)) continue;
    return Suggestion{.values = trial.values,
                      .reason = fmt::format("among the best {} of {} at resource {}", keep,
                                            arrived.size(), bracket.rungs[rung]),
                      .resource = bracket.rungs[rung + 1],
                      .continues = trial.number};
  }
  return {};
}

std::optional<Suggestion> Hyperband::Promotion(const Trials& trials) const {
  Chains chains;
  for (const auto list : {trials.finished, trials.pending}) {
    for (const Trial& trial : list) {
      if (!trial.continues) continue;
      chains.continued.insert(*trial.continues);
      chains.previous[trial.number] = *trial.continues;
    }
  }
  for (const Bracket& bracket : brackets_) {
    for (std::size_t rung = bracket.rungs.size() - 1; rung-- > 0;) {
      if (auto promotion = PromotionAt(bracket, rung, trials, chains)) return promotion;
    }
  }
  return {};
}

std::optional<Suggestion> Hyperband::Suggest(const Trials& trials) {
  if (options_.pauses) {
    if (auto promotion = Promotion(trials)) return promotion;
  }
  // A continued configuration is no new one to the source.
  auto suggestion = source_->Suggest(trials);
  if (!suggestion) return {};
  const Bracket& bracket = BracketOf(static_cast<std::int64_t>(trials.size()));
  suggestion->resource = options_.pauses ? bracket.rungs.front() : bracket.rungs.back();
  suggestion->reason += fmt::format("; rungs at {}", fmt::join(bracket.rungs, ", "));
  return suggestion;
}

}  // namespace sabia::tuner
