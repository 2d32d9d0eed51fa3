#include "tuner/bayesian.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/random_search.h"
#include "tuner/trust_region.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kInitialMin = 4;
constexpr std::size_t kInitialMax = 10;
constexpr std::size_t kEarlyFits = 20;      // up to here, fits start from the default too
constexpr std::size_t kRecommendedMax = 3;  // configurations of each parent that are tried first

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

VectorXd ToVector(const Point& point) {
  return Eigen::Map<const VectorXd>(point.data(), static_cast<Index>(point.size()));
}

}  // namespace

struct Bayesian::Fit {
  std::size_t trials = 0;
  std::uint64_t hash = 0;  // of those trials
  GpTheta theta;
};

// The trials that the process learns from.
struct Bayesian::Observed {
  MatrixXd x;
  VectorXd losses;   // failed ones have the worst
  VectorXd targets;  // transformed
  PriorMean prior_mean;

  Index size() const { return losses.size(); }
  // What is left for the process to explain.
  GpData Data(const GpShape& shape) const {
    if (prior_mean.empty()) return {x, targets};
    const GaussianProcess prior(shape, GpTheta::Zero(DefaultTheta(shape, {}).size()),
                                {x.leftCols(1), VectorXd::Zero(1)}, prior_mean);
    return {x, targets - prior.PriorMeans(x)};
  }
};

Bayesian::Bayesian(Space space, BayesianOptions options)
    : space_(std::move(space)), options_(std::move(options)) {
  shape_.warped = options_.warped;
  for (std::size_t d = 0; d < space_.size(); ++d) shape_.ordered.push_back(space_[d].IsOrdered());
  if (options_.initial_trials == 0) {
    options_.initial_trials = std::clamp(space_.size() + 1, kInitialMin, kInitialMax);
  }
  ModelParents();
}

Bayesian::~Bayesian() = default;

void Bayesian::ModelParents() {
  std::vector<std::shared_ptr<const GaussianProcess>> processes;
  for (const ParentJob& parent : options_.parents) {
    if (parent.identical) {
      inherited_.insert(inherited_.end(), parent.finished.begin(), parent.finished.end());
      continue;
    }
    Observed observed = Chosen(Observe(parent.finished), kTrialsFitted);
    if (observed.size() < 2) continue;
    const GpData data{observed.x.cwiseMax(0).cwiseMin(1), observed.targets};
    const GpTheta theta = FitTheta(shape_, options_.priors, data,
                                   DefaultTheta(shape_, options_.priors), FitOptions(2));
    processes.push_back(std::make_shared<GaussianProcess>(shape_, theta, data));
    std::vector<Index> order(static_cast<std::size_t>(observed.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(
        order, [&](Index a, Index b) { return observed.losses[a] < observed.losses[b]; });
    order.resize(std::min(order.size(), kRecommendedMax));
    for (const Index i : order) {
      // Through the cube, so that a value out of this job's bounds becomes the nearest allowed one.
      const VectorXd x = observed.x.col(i);
      recommended_.push_back(space_.Decode({x.data(), x.data() + x.size()}));
    }
  }
  transfer_ = TransferPrior(std::move(processes));
}

std::optional<Suggestion> Bayesian::Initial(const Trials& trials, const std::string& reason) const {
  RandomSearch search(space_, {.seed = options_.seed, .draw = Draw::kSobol});
  auto suggestion = search.Suggest(trials);
  if (suggestion) suggestion->reason = reason;
  return suggestion;
}

std::optional<Suggestion> Bayesian::FromParents(const Trials& trials) const {
  if (trials.size() >= recommended_.size()) return {};
  const Taken taken(trials);
  for (const Configuration& values : recommended_) {
    if (taken.Has(values)) continue;
    return Suggestion{.values = values, .reason = "among the best of a parent job"};
  }
  return {};
}

Bayesian::Observed Bayesian::Observe(std::span<const Trial> finished) const {
  std::vector<Point> points;
  std::vector<std::optional<double>> losses;
  for (const std::span<const Trial> list : {std::span<const Trial>(inherited_), finished}) {
    for (const Trial& trial : list) {
      const auto point = space_.Encode(trial.values);
      if (!point) continue;
      points.push_back(*point);
      losses.push_back(Loss(trial, options_.goal));
    }
  }
  double worst = -std::numeric_limits<double>::infinity();
  for (const auto& loss : losses) worst = std::max(worst, loss.value_or(worst));
  Observed observed;
  if (!std::isfinite(worst)) return observed;
  observed.x.resize(static_cast<Index>(space_.size()), static_cast<Index>(points.size()));
  observed.losses.resize(observed.x.cols());
  for (Index i = 0; i < observed.x.cols(); ++i) {
    observed.x.col(i) = ToVector(points[static_cast<std::size_t>(i)]);
    observed.losses[i] = losses[static_cast<std::size_t>(i)].value_or(worst);
  }
  observed.targets = TransformTargets(observed.losses, options_.transform);
  if (!transfer_.empty()) {
    observed.prior_mean = transfer_.MeanWith(transfer_.WeightsFor(observed.x, observed.losses));
  }
  return observed;
}

// Of too many: the better half of the places by loss, the other half by time.
Bayesian::Observed Bayesian::Chosen(const Observed& all, std::size_t limit) {
  if (all.size() <= static_cast<Index>(limit)) return all;
  std::vector<Index> order(static_cast<std::size_t>(all.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return all.losses[a] < all.losses[b]; });
  const auto half = static_cast<std::ptrdiff_t>(limit / 2);
  std::sort(order.begin() + half, order.end(), std::greater<>());
  order.resize(limit);
  std::ranges::sort(order);
  return {.x = all.x(Eigen::all, order),
          .losses = all.losses(order),
          .targets = all.targets(order),
          .prior_mean = all.prior_mean};
}

Bayesian::Fit Bayesian::FitTo(std::span<const Trial> finished) const {
  const GpTheta standard = DefaultTheta(shape_, options_.priors);
  Fit fit{.trials = finished.size(), .theta = standard};
  const Observed observed = Chosen(Observe(finished), kTrialsFitted);
  if (observed.size() < 2) return fit;
  const GpData data = observed.Data(shape_);
  const LbfgsOptions fitting = FitOptions(finished.size());
  if (fits_.empty()) {
    fit.theta = FitTheta(shape_, options_.priors, data, standard, fitting);
    return fit;
  }
  fit.theta = FitTheta(shape_, options_.priors, data, fits_.back().theta, fitting);
  if (finished.size() > kEarlyFits) return fit;
  const GpTheta other = FitTheta(shape_, options_.priors, data, standard, fitting);
  GpTheta ignored;
  if (LogPosterior(shape_, options_.priors, data, other, ignored) >
      LogPosterior(shape_, options_.priors, data, fit.theta, ignored)) {
    fit.theta = other;
  }
  return fit;
}

// How many of the fits are of beginnings of this history.
std::size_t Bayesian::KnownFits(std::span<const Trial> finished) const {
  std::uint64_t hash = 0;
  std::size_t hashed = 0;
  std::size_t known = 0;
  for (; known < fits_.size() && fits_[known].trials <= finished.size(); ++known) {
    for (; hashed < fits_[known].trials; ++hashed) {
      hash = HashTrial(hash, finished[hashed], options_.goal);
    }
    if (hash != fits_[known].hash) break;
  }
  return known;
}

const GpTheta& Bayesian::ThetaFor(std::span<const Trial> finished) {
  fits_.resize(KnownFits(finished));
  std::uint64_t hash = 0;
  std::size_t hashed = 0;
  std::size_t next = fits_.empty() ? 0 : NextFit(fits_.back().trials);
  for (; next <= finished.size(); next = NextFit(next)) {
    for (; hashed < next; ++hashed) hash = HashTrial(hash, finished[hashed], options_.goal);
    Fit fit = FitTo(finished.first(next));
    fit.hash = hash;
    fits_.push_back(std::move(fit));
  }
  return fits_.back().theta;
}

GaussianProcess Bayesian::WithPending(GaussianProcess process,
                                      std::span<const Trial> pending) const {
  GpData data = process.data();
  const Index known = data.y.size();
  for (const Trial& trial : pending) {
    const auto point = space_.Encode(trial.values);
    if (!point) continue;
    const VectorXd x = ToVector(*point);
    data.x.conservativeResize(Eigen::NoChange, data.x.cols() + 1);
    data.y.conservativeResize(data.x.cols());
    data.x.rightCols(1) = x;
    data.y.tail(1)[0] = process.Predict(x).mean - process.PriorMeans(x)[0];
  }
  if (data.y.size() == known) return process;
  return process.WithData(std::move(data));
}

Box Bayesian::BoxFor(const GaussianProcess& process, const Observed& observed) const {
  const auto size = static_cast<Index>(space_.size());
  std::size_t varied = 0;
  for (std::size_t d = 0; d < space_.size(); ++d) varied += space_[d].IsConstant() ? 0 : 1;
  if (varied <= kTrustRegionAbove) return {VectorXd::Zero(size), VectorXd::Ones(size)};
  const auto initial = static_cast<Index>(options_.initial_trials);
  const VectorXd later = observed.losses.tail(std::max<Index>(0, observed.size() - initial));
  Index best = 0;
  observed.losses.minCoeff(&best);
  return TrustRegionBox(process, observed.x.col(best), TrustRegionSide(later, varied));
}

// Minus the expected logarithm of the seconds, from a process of its own.
Preference Bayesian::PreferenceFor(std::span<const Trial> finished) const {
  if (options_.cost_exponent == 0) return {};
  std::vector<Trial> timed;
  for (const Trial& trial : finished.last(std::min(finished.size(), kTrialsModelled))) {
    if (!(trial.seconds > 0) || !space_.Encode(trial.values)) continue;
    timed.push_back(trial);
  }
  if (timed.size() < 2) return {};
  GpData data;
  data.x.resize(static_cast<Index>(space_.size()), static_cast<Index>(timed.size()));
  data.y.resize(data.x.cols());
  for (Index i = 0; i < data.x.cols(); ++i) {
    const Trial& trial = timed[static_cast<std::size_t>(i)];
    data.x.col(i) = ToVector(*space_.Encode(trial.values));
    data.y[i] = std::log(trial.seconds);
  }
  const double deviation = std::sqrt((data.y.array() - data.y.mean()).square().mean());
  data.y = TransformTargets(data.y, TargetTransform::kNone);
  const GpTheta theta = FitTheta(shape_, options_.priors, data,
                                 DefaultTheta(shape_, options_.priors), FitOptions(timed.size()));
  const auto process = std::make_shared<GaussianProcess>(shape_, theta, std::move(data));
  return [process, scale = -options_.cost_exponent * deviation](const MatrixXd& x) -> VectorXd {
    VectorXd mean;
    VectorXd ignored;
    process->Predict(x, mean, ignored);
    return scale * mean;
  };
}

std::optional<Bayesian::Surrogate> Bayesian::SurrogateOf(std::span<const Trial> finished) {
  Observed observed = Chosen(Observe(finished), kTrialsModelled);
  if (observed.size() == 0) return {};
  GaussianProcess process(shape_, ThetaFor(finished), observed.Data(shape_), observed.prior_mean);
  return Surrogate{.process = std::move(process),
                   .targets = observed.targets,
                   .losses = {observed.losses.data(), observed.losses.data() + observed.size()}};
}

std::optional<Suggestion> Bayesian::Suggest(const Trials& trials) {
  if (auto suggestion = FromParents(trials)) return suggestion;
  if (trials.size() + inherited_.size() < options_.initial_trials && transfer_.empty()) {
    return Initial(trials, "first trials: quasi-random");
  }
  const Observed all = Observe(trials.finished);
  if (all.size() == 0) return Initial(trials, "no trial has an objective yet: quasi-random");
  const Observed observed = Chosen(all, kTrialsModelled);
  GaussianProcess process(shape_, ThetaFor(trials.finished), observed.Data(shape_),
                          observed.prior_mean);
  process = WithPending(std::move(process), trials.pending);
  Taken taken(trials);
  for (const Trial& trial : inherited_) taken.Add(trial.values);
  const Acquisition acquisition({.space = space_,
                                 .process = process,
                                 .taken = taken,
                                 .box = BoxFor(process, all),
                                 .preference = PreferenceFor(trials.finished)},
                                options_.acquisition);
  const auto choice = acquisition.Best(Rng(options_.seed, Stream{trials.size()}));
  if (!choice) return Initial(trials, "every candidate is taken: quasi-random");
  return Suggestion{
      .values = space_.Decode(choice->point),
      .reason = fmt::format(
          "expected improvement e^{:.2f} (predicted {:.3f} +- {:.3f}, standardised)",
          choice->log_improvement, choice->prediction.mean, choice->prediction.deviation)};
}

}  // namespace sabia::tuner
