#include "tuner/explain.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/sobol.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint32_t kPairs = 512;  // of points, for the variances
constexpr std::uint64_t kSeed = 1;

VectorXd ToVector(const Point& point) {
  return Eigen::Map<const VectorXd>(point.data(), static_cast<Index>(point.size()));
}

// Two independent point sets: the two halves of a sequence of twice the dimensions.
std::pair<MatrixXd, MatrixXd> PointSets(const Space& space) {
  const std::size_t size = space.size();
  const Sobol sobol(kSeed, 2 * size);
  MatrixXd a(static_cast<Index>(size), kPairs);
  MatrixXd b = a;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const Point point = sobol.At(i);
    const auto middle = point.begin() + static_cast<std::ptrdiff_t>(size);
    a.col(i) = ToVector(space.Snap({point.begin(), middle}));
    b.col(i) = ToVector(space.Snap({middle, point.end()}));
  }
  return {a, b};
}

std::vector<Importance> Importances(const Space& space, const GaussianProcess& process) {
  const auto [a, b] = PointSets(space);
  VectorXd at_a;
  VectorXd ignored;
  process.Predict(a, at_a, ignored);
  std::vector<Importance> importances;
  double sum = 0;
  for (std::size_t d = 0; d < space.size(); ++d) {
    MatrixXd mixed = a;
    mixed.row(static_cast<Index>(d)) = b.row(static_cast<Index>(d));
    VectorXd at_mixed;
    process.Predict(mixed, at_mixed, ignored);
    const double effect = (at_a - at_mixed).squaredNorm() / (2 * kPairs);
    importances.push_back({space[d].name(), effect});
    sum += effect;
  }
  for (Importance& importance : importances) importance.share /= sum > 0 ? sum : 1;
  std::ranges::stable_sort(importances, std::greater<>(), &Importance::share);
  return importances;
}

// From the surrogate's scale back to the objective's: by the nearest observed pairs, and flat
// beyond.
double LossAt(const std::vector<std::pair<double, double>>& pairs, double target) {
  const auto above = std::ranges::lower_bound(pairs, std::pair(target, -HUGE_VAL));
  if (above == pairs.begin()) return pairs.front().second;
  if (above == pairs.end()) return pairs.back().second;
  const auto below = std::prev(above);
  const double share = (target - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

std::vector<FailureGroup> Failures(std::span<const Trial> finished) {
  std::map<std::string, FailureGroup> groups;
  for (const Trial& trial : finished) {
    if (trial.outcome != Outcome::kFailed) continue;
    FailureGroup& group = groups[trial.failure];
    group.failure = trial.failure;
    group.trials.push_back(trial.number);
  }
  std::vector<FailureGroup> sorted;
  for (auto& [text, group] : groups) {
    std::ranges::sort(group.trials);
    sorted.push_back(std::move(group));
  }
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [](const FailureGroup& group) { return group.trials.size(); });
  return sorted;
}

// What the surrogate expects, in units of the objective.
class Oracle {
 public:
  Oracle(const Bayesian::Surrogate& surrogate, const Space& space, Goal goal)
      : process_(surrogate.process), space_(space), sign_(goal == Goal::kMinimize ? 1 : -1) {
    for (std::size_t i = 0; i < surrogate.losses.size(); ++i) {
      pairs_.emplace_back(surrogate.targets[static_cast<Index>(i)], surrogate.losses[i]);
    }
    std::ranges::sort(pairs_);
  }

  // All objectives are one: there is nothing to tell apart.
  bool Blind() const { return pairs_.front().second == pairs_.back().second; }

  std::optional<Expectation> Expect(const Configuration& values) const {
    const auto point = space_.Encode(values);
    if (!point) return {};
    const auto prediction = process_.Predict(ToVector(*point));
    const double low = sign_ * LossAt(pairs_, prediction.mean - prediction.deviation);
    const double high = sign_ * LossAt(pairs_, prediction.mean + prediction.deviation);
    return Expectation{.objective = sign_ * LossAt(pairs_, prediction.mean),
                       .low = std::min(low, high),
                       .high = std::max(low, high)};
  }

 private:
  const GaussianProcess& process_;
  const Space& space_;
  const double sign_;
  std::vector<std::pair<double, double>> pairs_;  // target and loss, ascending
};

}  // namespace

Explanation Explain(Bayesian& strategy, std::span<const Trial> finished,
                    std::span<const Configuration> configurations) {
  Explanation explanation{.failures = Failures(finished)};
  explanation.expectations.resize(configurations.size());
  const Goal goal = strategy.options().goal;
  for (const Trial& trial : finished) {
    const bool usable = Loss(trial, goal).has_value();
    if (!usable && trial.outcome != Outcome::kFailed) ++explanation.without_metric;
  }
  const auto surrogate = strategy.SurrogateOf(finished);
  if (!surrogate) return explanation;
  const Oracle oracle(*surrogate, strategy.space(), goal);
  if (oracle.Blind()) return explanation;
  explanation.importances = Importances(strategy.space(), surrogate->process);
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    explanation.expectations[i] = oracle.Expect(configurations[i]);
  }
  return explanation;
}

}  // namespace sabia::tuner
