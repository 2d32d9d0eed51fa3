#include "tuner/bayesian.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "tuner/random_search.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kInitialMin = 4;
constexpr std::size_t kInitialMax = 10;
constexpr std::size_t kEarlyFits = 20;  // up to here, fits start from the default too

std::uint64_t HashBytes(std::uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return Mix(hash);
}

// Of all that a fit depends on.
std::uint64_t HashTrial(std::uint64_t hash, const Trial& trial, Goal goal) {
  for (const std::string& value : trial.values) hash = HashBytes(hash, value);
  const auto loss = Loss(trial, goal);
  return Mix(hash ^ (loss ? std::bit_cast<std::uint64_t>(*loss) : 1));
}

// The next number of finished trials at which hyperparameters are fitted: after every trial at
// first, then whenever there is a twentieth more.
std::size_t NextFit(std::size_t trials) { return trials + std::max<std::size_t>(1, trials / 20); }

LbfgsOptions FitOptions(std::size_t trials) {
  const bool early = trials <= kEarlyFits;
  return {.iterations_max = early           ? 40
                            : trials <= 100 ? 20
                                            : 8,
          .evaluations_max = early           ? 60
                             : trials <= 100 ? 30
                                             : 12,
          .relative_tolerance = 1e-4,
          .step_max = 2};
}

}  // namespace

struct Bayesian::Fit {
  std::size_t trials = 0;
  std::uint64_t hash = 0;  // of those trials
  GpTheta theta;
};

Bayesian::Bayesian(Space space, BayesianOptions options)
    : space_(std::move(space)), options_(options) {
  shape_.warped = options_.warped;
  for (std::size_t d = 0; d < space_.size(); ++d) shape_.ordered.push_back(space_[d].IsOrdered());
  if (options_.initial_trials == 0) {
    options_.initial_trials = std::clamp(space_.size() + 1, kInitialMin, kInitialMax);
  }
}

Bayesian::~Bayesian() = default;

std::optional<Suggestion> Bayesian::Initial(const Trials& trials, const std::string& reason) const {
  RandomSearch search(space_, {.seed = options_.seed, .draw = Draw::kSobol});
  auto suggestion = search.Suggest(trials);
  if (suggestion) suggestion->reason = reason;
  return suggestion;
}

GpData Bayesian::DataOf(std::span<const Trial> finished) const {
  std::vector<Point> points;
  std::vector<std::optional<double>> losses;
  for (const Trial& trial : finished) {
    const auto point = space_.Encode(trial.values);
    if (!point) continue;
    points.push_back(*point);
    losses.push_back(Loss(trial, options_.goal));
  }
  double worst = -std::numeric_limits<double>::infinity();
  for (const auto& loss : losses) worst = std::max(worst, loss.value_or(worst));
  GpData data;
  if (!std::isfinite(worst)) return data;
  const auto size = static_cast<Index>(points.size());
  data.x.resize(static_cast<Index>(space_.size()), size);
  VectorXd y(size);
  for (Index i = 0; i < size; ++i) {
    const Point& point = points[static_cast<std::size_t>(i)];
    data.x.col(i) = Eigen::Map<const VectorXd>(point.data(), data.x.rows());
    y[i] = losses[static_cast<std::size_t>(i)].value_or(worst);
  }
  data.y = TransformTargets(y, options_.transform);
  if (y.size() <= static_cast<Index>(kTrialsModelled)) return data;
  // The better half by loss, and of the others the latest.
  std::vector<Index> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  std::ranges::stable_sort(order, [&](Index a, Index b) { return y[a] < y[b]; });
  constexpr std::size_t kHalf = kTrialsModelled / 2;
  std::ranges::sort(order.begin() + kHalf, order.end(), std::greater<>());
  order.resize(kTrialsModelled);
  std::ranges::sort(order);
  GpData chosen;
  chosen.x = data.x(Eigen::all, order);
  chosen.y = data.y(order);
  return chosen;
}

const GpTheta& Bayesian::ThetaFor(const Trials& trials) {
  std::uint64_t hash = 0;
  std::size_t known = 0;
  std::size_t hashed = 0;
  auto hash_to = [&](std::size_t count) {
    for (; hashed < count; ++hashed) hash = HashTrial(hash, trials.finished[hashed], options_.goal);
    return hash;
  };
  for (; known < fits_.size() && fits_[known].trials <= trials.finished.size(); ++known) {
    if (hash_to(fits_[known].trials) != fits_[known].hash) break;
  }
  if (known < fits_.size() && fits_[known].trials <= trials.finished.size()) {
    fits_.resize(known);  // Another history.
    hash = 0;
    hashed = 0;
  } else if (known < fits_.size()) {
    fits_.resize(known);
  }
  std::size_t next = fits_.empty() ? 1 : NextFit(fits_.back().trials);
  for (; next <= trials.finished.size(); next = NextFit(next)) {
    const GpData data = DataOf(trials.finished.first(next));
    const GpTheta standard = DefaultTheta(shape_, options_.priors);
    Fit fit{.trials = next, .hash = hash_to(next), .theta = standard};
    if (data.y.size() > 1) {
      const LbfgsOptions fitting = FitOptions(next);
      GpTheta gradient;
      const GpTheta& last = fits_.empty() ? standard : fits_.back().theta;
      fit.theta = FitTheta(shape_, options_.priors, data, last, fitting);
      if (next <= kEarlyFits && !fits_.empty()) {
        const GpTheta other = FitTheta(shape_, options_.priors, data, standard, fitting);
        if (LogPosterior(shape_, options_.priors, data, other, gradient) >
            LogPosterior(shape_, options_.priors, data, fit.theta, gradient)) {
          fit.theta = other;
        }
      }
    }
    fits_.push_back(std::move(fit));
  }
  return fits_.back().theta;
}

std::optional<Suggestion> Bayesian::Suggest(const Trials& trials) {
  if (trials.size() < options_.initial_trials) {
    return Initial(trials, "first trials: quasi-random");
  }
  GpData data = DataOf(trials.finished);
  if (data.y.size() == 0) return Initial(trials, "no trial has an objective yet: quasi-random");
  const GpTheta theta = ThetaFor(trials);
  GaussianProcess process(shape_, theta, data);
  for (const Trial& trial : trials.pending) {
    const auto point = space_.Encode(trial.values);
    if (!point) continue;
    const VectorXd x = Eigen::Map<const VectorXd>(point->data(), data.x.rows());
    const Index size = data.y.size();
    data.x.conservativeResize(Eigen::NoChange, size + 1);
    data.y.conservativeResize(size + 1);
    data.x.col(size) = x;
    data.y[size] = process.Predict(x).mean;
  }
  if (!trials.pending.empty()) process = GaussianProcess(shape_, theta, data);
  const Taken taken(trials);
  const Box box{VectorXd::Zero(data.x.rows()), VectorXd::Ones(data.x.rows())};
  const Acquisition acquisition({space_, process, taken, box, {}}, options_.acquisition);
  const auto choice = acquisition.Best(Rng(options_.seed, Stream{trials.size()}));
  if (!choice) return Initial(trials, "every candidate is taken: quasi-random");
  return Suggestion{
      .values = space_.Decode(choice->point),
      .reason = fmt::format(
          "expected improvement e^{:.2f} (predicted {:.3f} +- {:.3f}, standardised)",
          choice->log_improvement, choice->prediction.mean, choice->prediction.deviation)};
}

}  // namespace sabia::tuner
