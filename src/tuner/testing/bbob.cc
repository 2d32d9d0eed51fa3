#include "tuner/testing/bbob.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
constexpr double kPi = std::numbers::pi;

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// Small smooth irregularities, symmetric in no way.
double Oscillated(double x) {
  if (x == 0) return 0;
  const double log = std::log(std::abs(x));
  const double c1 = x > 0 ? 10 : 5.5;
  const double c2 = x > 0 ? 7.9 : 3.1;
  return Sign(x) * std::exp(log + 0.049 * (std::sin(c1 * log) + std::sin(c2 * log)));
}

VectorXd Oscillated(const VectorXd& x) {
  return x.unaryExpr([](double v) { return Oscillated(v); });
}

// (i - 1) / (D - 1)
double Share(Index i, Index size) { return static_cast<double>(i) / static_cast<double>(size - 1); }

VectorXd Asymmetric(VectorXd x, double beta) {
  for (Index i = 0; i < x.size(); ++i) {
    if (x[i] > 0) x[i] = std::pow(x[i], 1 + beta * Share(i, x.size()) * std::sqrt(x[i]));
  }
  return x;
}

// The diagonal of Lambda^alpha.
VectorXd Diagonal(double alpha, Index size) {
  VectorXd diagonal(size);
  for (Index i = 0; i < size; ++i) diagonal[i] = std::pow(alpha, 0.5 * Share(i, size));
  return diagonal;
}

double Penalty(const VectorXd& x) { return (x.array().abs() - kBbobBound).max(0).square().sum(); }

// Sum of 10^(exponent (i - 1) / (D - 1)) z_i^2.
double Ellipsoid(const VectorXd& z, double exponent) {
  double sum = 0;
  for (Index i = 0; i < z.size(); ++i) {
    sum += std::pow(10, exponent * Share(i, z.size())) * z[i] * z[i];
  }
  return sum;
}

double Rastrigin(const VectorXd& z) {
  const auto size = static_cast<double>(z.size());
  return 10 * (size - (2 * kPi * z.array()).cos().sum()) + z.squaredNorm();
}

double RosenbrockTerm(const VectorXd& z, Index i) {
  return 100 * std::pow(z[i] * z[i] - z[i + 1], 2) + std::pow(z[i] - 1, 2);
}

double Rosenbrock(const VectorXd& z) {
  double sum = 0;
  for (Index i = 0; i + 1 < z.size(); ++i) sum += RosenbrockTerm(z, i);
  return sum;
}

double GriewankRosenbrock(const VectorXd& z) {
  double sum = 0;
  for (Index i = 0; i + 1 < z.size(); ++i) {
    const double s = RosenbrockTerm(z, i);
    sum += s / 4000 - std::cos(s);
  }
  return 10 * sum / static_cast<double>(z.size() - 1) + 10;
}

double Schaffers(const VectorXd& z) {
  double sum = 0;
  for (Index i = 0; i + 1 < z.size(); ++i) {
    const double s = std::hypot(z[i], z[i + 1]);
    sum += std::sqrt(s) * (1 + std::pow(std::sin(50 * std::pow(s, 0.2)), 2));
  }
  return std::pow(sum / static_cast<double>(z.size() - 1), 2);
}

double Weierstrass(const VectorXd& z) {
  constexpr int kTerms = 12;
  double at_best = 0;
  double sum = 0;
  for (int k = 0; k < kTerms; ++k) {
    const double half = std::pow(0.5, k);
    const double three = std::pow(3, k);
    at_best += half * std::cos(kPi * three);
    sum += half * (2 * kPi * three * (z.array() + 0.5)).cos().sum();
  }
  return 10 * std::pow(sum / static_cast<double>(z.size()) - at_best, 3);
}

double Katsuura(const VectorXd& z) {
  const auto size = static_cast<double>(z.size());
  double product = 1;
  for (Index i = 0; i < z.size(); ++i) {
    double sum = 0;
    for (int j = 1; j <= 32; ++j) {
      const double scaled = std::ldexp(z[i], j);
      sum += std::abs(scaled - std::round(scaled)) * std::ldexp(1, -j);
    }
    product *= std::pow(1 + static_cast<double>(i + 1) * sum, 10 / std::pow(size, 1.2));
  }
  return 10 / (size * size) * (product - 1);
}

VectorXd UniformVector(Rng& rng, Index size, double bound) {
  VectorXd x(size);
  for (Index i = 0; i < size; ++i) x[i] = bound * (2 * rng.Uniform() - 1);
  return x;
}

// Gram-Schmidt over normal deviates.
Eigen::MatrixXd Rotation(Rng& rng, Index size) {
  Eigen::MatrixXd m(size, size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) m(j, i) = rng.Normal();
    for (Index k = 0; k < i; ++k) m.col(i) -= m.col(k).dot(m.col(i)) * m.col(k);
    m.col(i).normalize();
  }
  return m;
}

std::vector<double> Shuffled(Rng& rng, std::vector<double> values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.Below(i)]);
  return values;
}

}  // namespace

Bbob::Bbob(Instance instance) : instance_(instance), size_(instance.dimensions) {
  CHECK(instance.function >= 1 && instance.function <= kBbobFunctions && size_ >= 2);
  Rng rng(instance.seed, Stream{static_cast<std::uint64_t>(instance.function)});
  r_ = Rotation(rng, size_);
  q_ = Rotation(rng, size_);
  best_value_ = std::round(20000 * (rng.Uniform() - 0.5)) / 100;
  signs_ = UniformVector(rng, size_, 1).unaryExpr(&Sign);
  best_point_ = UniformVector(rng, size_, 4);
  PlaceOptimum();
  if (instance.function == 21 || instance.function == 22) PlacePeaks();
}

void Bbob::PlaceOptimum() {
  const double scale = std::max(1.0, std::sqrt(static_cast<double>(size_)) / 8);
  switch (instance_.function) {
    case 4:
      for (Index i = 0; i < size_; i += 2) best_point_[i] = std::abs(best_point_[i]);
      break;
    case 5:
      best_point_ = kBbobBound * signs_;
      break;
    case 8:
      best_point_ *= 0.75;
      break;
    case 9:
    case 19:
      best_point_ = r_.transpose() * VectorXd::Constant(size_, 0.5 / scale);
      break;
    case 20:
      best_point_ = 4.2096874633 / 2 * signs_;
      break;
    case 24:
      best_point_ = 2.5 / 2 * signs_;
      break;
    default:
      break;
  }
}

void Bbob::PlacePeaks() {
  const bool many = instance_.function == 21;
  const int count = many ? 101 : 21;
  Rng rng(instance_.seed, Stream{1000});
  std::vector<double> conditions;
  for (int j = 0; j < count - 1; ++j) conditions.push_back(std::pow(1000, 2.0 * j / (count - 2)));
  conditions = Shuffled(rng, conditions);
  conditions.insert(conditions.begin(), many ? 1000.0 : 1e6);
  for (int i = 0; i < count; ++i) {
    const double alpha = conditions[static_cast<std::size_t>(i)];
    const VectorXd diagonal = Diagonal(alpha, size_);
    const auto shuffled = Shuffled(rng, {diagonal.data(), diagonal.data() + size_});
    Peak peak;
    peak.curvature = Eigen::Map<const VectorXd>(shuffled.data(), size_) / std::pow(alpha, 0.25);
    peak.place = UniformVector(rng, size_, many ? 5 : 4.9);
    if (i == 0) peak.place = best_point_ *= many ? 1 : 0.98;
    peak.height = i == 0 ? 10 : 1.1 + 8.0 * (i - 1) / (count - 2);
    peaks_.push_back(std::move(peak));
  }
}

double Bbob::Value(const VectorXd& x) const { return Shape(x) + best_value_; }

double Bbob::Shape(const VectorXd& x) const {
  const int function = instance_.function;
  if (function <= 5) return Separable(x);
  if (function <= 9) return Conditioned(x);
  if (function <= 14) return IllConditioned(x);
  if (function <= 19) return Multimodal(x);
  return WeaklyStructured(x);
}

double Bbob::Separable(const VectorXd& x) const {
  const VectorXd shifted = x - best_point_;
  switch (instance_.function) {
    case 1:
      return shifted.squaredNorm();
    case 2:
      return Ellipsoid(Oscillated(shifted), 6);
    case 3:
      return Rastrigin(Diagonal(10, size_).cwiseProduct(Asymmetric(Oscillated(shifted), 0.2)));
    case 4: {
      VectorXd z = Oscillated(shifted);
      for (Index i = 0; i < size_; ++i) {
        const double steep = z[i] > 0 && i % 2 == 0 ? 10 : 1;
        z[i] *= steep * std::pow(10, 0.5 * Share(i, size_));
      }
      return Rastrigin(z) + 100 * Penalty(x);
    }
    default:
      break;
  }
  double sum = 0;
  for (Index i = 0; i < size_; ++i) {
    const double slope = signs_[i] * std::pow(10, Share(i, size_));
    const double z = best_point_[i] * x[i] < kBbobBound * kBbobBound ? x[i] : best_point_[i];
    sum += kBbobBound * std::abs(slope) - slope * z;
  }
  return sum;
}

double Bbob::Conditioned(const VectorXd& x) const {
  const VectorXd shifted = x - best_point_;
  const VectorXd diagonal = Diagonal(10, size_);
  const double scale = std::max(1.0, std::sqrt(static_cast<double>(size_)) / 8);
  switch (instance_.function) {
    case 6: {
      VectorXd z = q_ * diagonal.cwiseProduct(r_ * shifted);
      for (Index i = 0; i < size_; ++i) z[i] *= z[i] * best_point_[i] > 0 ? 100 : 1;
      return std::pow(Oscillated(z.squaredNorm()), 0.9);
    }
    case 7: {
      const VectorXd smooth = diagonal.cwiseProduct(r_ * shifted);
      const VectorXd steps = smooth.unaryExpr([](double v) {
        return std::abs(v) > 0.5 ? std::floor(0.5 + v) : std::floor(0.5 + 10 * v) / 10;
      });
      return 0.1 * std::max(std::abs(smooth[0]) / 1e4, Ellipsoid(q_ * steps, 2)) + Penalty(x);
    }
    case 8:
      return Rosenbrock((scale * shifted).array() + 1);
    default:
      return Rosenbrock((scale * (r_ * x)).array() + 0.5);
  }
}

double Bbob::IllConditioned(const VectorXd& x) const {
  const VectorXd rotated = r_ * (x - best_point_);
  switch (instance_.function) {
    case 10:
      return Ellipsoid(Oscillated(rotated), 6);
    case 11: {
      const VectorXd z = Oscillated(rotated);
      return 1e6 * z[0] * z[0] + z.tail(size_ - 1).squaredNorm();
    }
    case 12: {
      const VectorXd z = r_ * Asymmetric(rotated, 0.5);
      return z[0] * z[0] + 1e6 * z.tail(size_ - 1).squaredNorm();
    }
    case 13: {
      const VectorXd z = q_ * Diagonal(10, size_).cwiseProduct(rotated);
      return z[0] * z[0] + 100 * z.tail(size_ - 1).norm();
    }
    default:
      break;
  }
  double sum = 0;
  for (Index i = 0; i < size_; ++i) {
    sum += std::pow(std::abs(rotated[i]), 2 + 4 * Share(i, size_));
  }
  return std::sqrt(sum);
}

double Bbob::Multimodal(const VectorXd& x) const {
  const VectorXd rotated = r_ * (x - best_point_);
  const double scale = std::max(1.0, std::sqrt(static_cast<double>(size_)) / 8);
  switch (instance_.function) {
    case 15:
      return Rastrigin(r_ *
                       Diagonal(10, size_).cwiseProduct(q_ * Asymmetric(Oscillated(rotated), 0.2)));
    case 16:
      return Weierstrass(r_ * Diagonal(0.01, size_).cwiseProduct(q_ * Oscillated(rotated))) +
             10 / static_cast<double>(size_) * Penalty(x);
    case 17:
    case 18: {
      const double alpha = instance_.function == 17 ? 10 : 1000;
      return Schaffers(Diagonal(alpha, size_).cwiseProduct(q_ * Asymmetric(rotated, 0.5))) +
             10 * Penalty(x);
    }
    default:
      return GriewankRosenbrock((scale * (r_ * x)).array() + 0.5);
  }
}

double Bbob::WeaklyStructured(const VectorXd& x) const {
  const auto size = static_cast<double>(size_);
  switch (instance_.function) {
    case 20: {
      const VectorXd mirrored = 2 * signs_.cwiseProduct(x);
      const VectorXd twice = 2 * best_point_.cwiseAbs();
      VectorXd z = mirrored;
      z.tail(size_ - 1) += 0.25 * (mirrored - twice).head(size_ - 1);
      z = 100 * (Diagonal(10, size_).cwiseProduct(z - twice) + twice);
      const double waves = (z.array() * z.array().abs().sqrt().sin()).sum();
      return -waves / (100 * size) + 4.189828872724339 + 100 * Penalty(z / 100);
    }
    case 21:
    case 22:
      return Gallagher(x);
    case 23: {
      const VectorXd z = q_ * Diagonal(100, size_).cwiseProduct(r_ * (x - best_point_));
      return Katsuura(z) + Penalty(x);
    }
    default:
      break;
  }
  constexpr double kFirst = 2.5;
  const double s = 1 - 1 / (2 * std::sqrt(size + 20) - 8.2);
  const double second = -std::sqrt((kFirst * kFirst - 1) / s);
  const VectorXd mirrored = 2 * signs_.cwiseProduct(x);
  const VectorXd from_first = mirrored.array() - kFirst;
  const double bowls =
      std::min(from_first.squaredNorm(), size + s * (mirrored.array() - second).square().sum());
  const VectorXd z = q_ * Diagonal(100, size_).cwiseProduct(r_ * from_first);
  return bowls + 10 * (size - (2 * kPi * z.array()).cos().sum()) + 1e4 * Penalty(x);
}

double Bbob::Gallagher(const VectorXd& x) const {
  double highest = 0;
  for (const Peak& peak : peaks_) {
    const VectorXd z = r_ * (x - peak.place);
    const double distance = z.dot(peak.curvature.cwiseProduct(z));
    highest =
        std::max(highest, peak.height * std::exp(-distance / (2 * static_cast<double>(size_))));
  }
  return std::pow(Oscillated(10 - highest), 2) + Penalty(x);
}

std::string Bbob::Name(int function) {
  static constexpr std::array kNames = {"sphere",
                                        "ellipsoid",
                                        "rastrigin",
                                        "bueche-rastrigin",
                                        "linear-slope",
                                        "attractive-sector",
                                        "step-ellipsoid",
                                        "rosenbrock",
                                        "rosenbrock-rotated",
                                        "ellipsoid-rotated",
                                        "discus",
                                        "bent-cigar",
                                        "sharp-ridge",
                                        "different-powers",
                                        "rastrigin-rotated",
                                        "weierstrass",
                                        "schaffers",
                                        "schaffers-ill",
                                        "griewank-rosenbrock",
                                        "schwefel",
                                        "gallagher-101",
                                        "gallagher-21",
                                        "katsuura",
                                        "lunacek"};
  CHECK(function >= 1 && function <= kBbobFunctions);
  return kNames[static_cast<std::size_t>(function - 1)];
}

}  // namespace sabia::tuner
