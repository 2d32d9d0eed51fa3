#include "tuner/acquisition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/expected_improvement.h"
#include "tuner/sobol.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kIncumbents = 5;  // observed points whose neighbourhood is searched
constexpr int kNeighbourRoundsMax = 8;
constexpr std::size_t kCategoriesTried = 12;
constexpr double kTiny = 1e-9;

VectorXd ToVector(const Point& point) {
  return Eigen::Map<const VectorXd>(point.data(), static_cast<Index>(point.size()));
}

Point ToPoint(const VectorXd& x) { return {x.data(), x.data() + x.size()}; }

std::vector<Index> Ascending(const VectorXd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return values[a] < values[b]; });
  return order;
}

}  // namespace

Acquisition::Acquisition(Parts parts, AcquisitionOptions options)
    : parts_(std::move(parts)), options_(options) {
  // The best expected value, not the best observed one, which noise may have flattered.
  best_mean_ = parts_.process.FittedMeans().minCoeff();
}

VectorXd Acquisition::Values(const MatrixXd& x) const {
  VectorXd mean;
  VectorXd deviation;
  parts_.process.Predict(x, mean, deviation);
  VectorXd values(x.cols());
  for (Index i = 0; i < x.cols(); ++i) {
    const double z = (best_mean_ - mean[i]) / deviation[i];
    values[i] = std::log(deviation[i]) + StandardLogImprovement(z).value;
  }
  if (parts_.preference) values += parts_.preference(x);
  return values;
}

VectorXd Acquisition::Snapped(const VectorXd& x) const {
  return ToVector(parts_.space.Snap(ToPoint(x)));
}

bool Acquisition::IsFree(const VectorXd& x) const {
  return !parts_.taken.Has(parts_.space.Decode(ToPoint(x)));
}

void Acquisition::Mutate(Rng& rng, VectorXd& x) const {
  const auto size = static_cast<double>(x.size());
  const double chance = std::min(1.0, options_.changed_coordinates / size);
  const auto sure = static_cast<Index>(rng.Below(static_cast<std::uint64_t>(x.size())));
  // Steps from a thousandth to a third of the range, evenly by their logarithm.
  const double step = std::pow(10, -3 + 2.5 * rng.Uniform());
  for (Index d = 0; d < x.size(); ++d) {
    if (rng.Uniform() >= chance && d != sure) continue;
    const Parameter& parameter = parts_.space[static_cast<std::size_t>(d)];
    const double width = parts_.box.high[d] - parts_.box.low[d];
    if (!parameter.IsOrdered()) {
      x[d] = rng.Uniform();
      continue;
    }
    double change = step * width * rng.Normal();
    // A smaller step than to the next integer would be none.
    if (parameter.Count() != kUncountable) {
      const double unit = 1 / static_cast<double>(parameter.Count());
      change = std::copysign(std::max(std::abs(change), unit), change);
    }
    x[d] = std::clamp(x[d] + change, parts_.box.low[d], parts_.box.high[d]);
  }
}

MatrixXd Acquisition::Candidates(Rng& rng) const {
  const Index size = static_cast<Index>(parts_.space.size());
  const Index global = options_.global_candidates;
  MatrixXd x(size, global + options_.local_candidates);
  const Sobol sobol(rng.Next(), parts_.space.size());
  for (Index i = 0; i < global; ++i) {
    const VectorXd unit = ToVector(sobol.At(static_cast<std::uint32_t>(i)));
    VectorXd placed = parts_.box.low + unit.cwiseProduct(parts_.box.high - parts_.box.low);
    for (Index d = 0; d < size; ++d) {
      if (!parts_.space[static_cast<std::size_t>(d)].IsOrdered()) placed[d] = unit[d];
    }
    x.col(i) = Snapped(placed);
  }
  const MatrixXd& observed = parts_.process.data().x;
  const std::vector<Index> order = Ascending(parts_.process.FittedMeans());
  for (Index i = 0; i < options_.local_candidates; ++i) {
    const auto incumbents = std::min<std::size_t>(kIncumbents, order.size());
    VectorXd point = observed.col(order[static_cast<std::size_t>(i) % incumbents]);
    Mutate(rng, point);
    x.col(global + i) = Snapped(point);
  }
  return x;
}

MatrixXd Acquisition::Everything() const {
  const std::uint64_t count = parts_.space.Count();
  MatrixXd x(static_cast<Index>(parts_.space.size()), static_cast<Index>(count));
  for (std::uint64_t n = 0; n < count; ++n) {
    x.col(static_cast<Index>(n)) = ToVector(*parts_.space.Encode(parts_.space.Nth(n)));
  }
  return x;
}

// Minus log EI where the free coordinates are t, and its gradient by them; sets them in x.
double Acquisition::ClimbValue(const std::vector<Index>& free, const VectorXd& t, VectorXd& x,
                               VectorXd& gradient) const {
  gradient.resize(t.size());
  for (Index k = 0; k < t.size(); ++k) {
    const Index d = free[static_cast<std::size_t>(k)];
    x[d] = std::clamp(t[k], parts_.box.low[d], parts_.box.high[d]);
  }
  VectorXd by_mean;
  VectorXd by_deviation;
  const auto prediction = parts_.process.Predict(x, by_mean, by_deviation);
  const double z = (best_mean_ - prediction.mean) / prediction.deviation;
  const LogImprovement log = StandardLogImprovement(z);
  for (Index k = 0; k < t.size(); ++k) {
    const Index d = free[static_cast<std::size_t>(k)];
    gradient[k] =
        (log.slope * (by_mean[d] + z * by_deviation[d]) - by_deviation[d]) / prediction.deviation;
    // At a wall a coordinate that pushes outwards stays where it is.
    const bool pushes = x[d] != t[k] || (x[d] == parts_.box.low[d] && gradient[k] > 0) ||
                        (x[d] == parts_.box.high[d] && gradient[k] < 0);
    if (pushes) gradient[k] = 0;
  }
  return -(std::log(prediction.deviation) + log.value);
}

// Climbs log EI in the continuous coordinates. A preference has no gradient: it judges the result
// only.
void Acquisition::Climb(VectorXd& x, double& value) const {
  std::vector<Index> free;
  for (Index d = 0; d < x.size(); ++d) {
    if (parts_.space[static_cast<std::size_t>(d)].Count() == kUncountable) free.push_back(d);
  }
  if (free.empty()) return;
  VectorXd at = x;
  const SmoothFunction negative = [&](const VectorXd& t, VectorXd& gradient) {
    return ClimbValue(free, t, at, gradient);
  };
  const Minimum minimum = MinimizeLbfgs(negative, x(free),
                                        {.iterations_max = options_.climbs,
                                         .evaluations_max = 2 * options_.climbs,
                                         .relative_tolerance = 1e-5,
                                         .step_max = 0.2});
  VectorXd ignored;
  ClimbValue(free, minimum.x, at, ignored);
  const double reached = Values(at)[0];
  if (reached > value && IsFree(at)) {
    x = at;
    value = reached;
  }
}

std::vector<double> Acquisition::Neighbours(Index d, double coordinate) const {
  const Parameter& parameter = parts_.space[static_cast<std::size_t>(d)];
  std::vector<double> others;
  const std::uint64_t count = parameter.Count();
  if (count == kUncountable || count == 1) return others;
  if (!parameter.IsOrdered()) {
    for (std::uint64_t n = 0; n < std::min<std::uint64_t>(count, kCategoriesTried); ++n) {
      const double other = (static_cast<double>(n) + 0.5) / static_cast<double>(count);
      if (std::abs(other - coordinate) > kTiny) others.push_back(other);
    }
    return others;
  }
  // To the next value on either side: on a logarithmic scale they lie unevenly.
  for (const double sign : {-1.0, 1.0}) {
    double step = 1 / static_cast<double>(count) / 8;
    for (; step < 1; step *= 1.5) {
      const double other = parameter.Snap(coordinate + sign * step);
      if (std::abs(other - coordinate) <= kTiny) continue;
      if (other >= parts_.box.low[d] && other <= parts_.box.high[d]) others.push_back(other);
      break;
    }
  }
  return others;
}

// The best free neighbour in one integer or category, if it is better.
bool Acquisition::Step(VectorXd& x, double& value) const {
  std::vector<VectorXd> neighbours;
  for (Index d = 0; d < x.size(); ++d) {
    for (const double other : Neighbours(d, x[d])) {
      neighbours.push_back(x);
      neighbours.back()[d] = other;
    }
  }
  if (neighbours.empty()) return false;
  MatrixXd all(x.size(), static_cast<Index>(neighbours.size()));
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    all.col(static_cast<Index>(i)) = neighbours[i];
  const VectorXd values = Values(all);
  bool moved = false;
  for (const Index i : Ascending(-values)) {
    if (!(values[i] > value)) break;
    if (!IsFree(all.col(i))) continue;
    x = all.col(i);
    value = values[i];
    moved = true;
    break;
  }
  return moved;
}

std::optional<Acquisition::Choice> Acquisition::Best(Rng rng) const {
  const bool small = parts_.space.Count() <= options_.enumerated_max;
  const MatrixXd candidates = small ? Everything() : Candidates(rng);
  const VectorXd values = Values(candidates);
  int refined = 0;
  std::optional<VectorXd> best;
  double best_value = 0;
  for (const Index i : Ascending(-values)) {
    if (refined >= (small ? 1 : options_.starts)) break;
    if (!IsFree(candidates.col(i))) continue;
    VectorXd x = candidates.col(i);
    double value = values[i];
    ++refined;
    for (int round = 0; !small && round < kNeighbourRoundsMax; ++round) {
      Climb(x, value);
      if (!Step(x, value)) break;
    }
    if (best && value <= best_value) continue;
    best = x;
    best_value = value;
  }
  if (!best) return {};
  return Choice{.point = ToPoint(*best),
                .log_improvement = best_value,
                .prediction = parts_.process.Predict(*best)};
}

}  // namespace sabia::tuner
