#include "tuner/gaussian_process.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace sabia::tuner {
namespace {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEdge = 1e-6;        // a warp's slope may be infinite at 0 and 1
constexpr double kNoiseFloor = 1e-8;  // keeps duplicates invertible; added to the fitted noise
constexpr double kVarianceFloor = 1e-12;
const double kRoot5 = std::sqrt(5.0);

// Where each hyperparameter is.
struct Layout {
  explicit Layout(const GpShape& of) : shape(of) {}
  const GpShape& shape;

  Index Length(Index d) const { return 2 + d; }
  Index size() const { return 2 + shape.size() + 2 * Warps(); }
  Index Warps() const {
    if (!shape.warped) return 0;
    Index count = 0;
    for (const bool ordered : shape.ordered) count += ordered ? 1 : 0;
    return count;
  }
  // Calls work(coordinate, index of its log a).
  template <typename Work>
  void EachWarp(const Work& work) const {
    if (!shape.warped) return;
    Index at = 2 + shape.size();
    for (Index d = 0; d < shape.size(); ++d) {
      if (!shape.ordered[static_cast<std::size_t>(d)]) continue;
      work(d, at);
      at += 2;
    }
  }
};

struct Warp {
  double a = 1;
  double b = 1;

  static double Inner(double x) { return std::min(std::max(x, kEdge), 1 - kEdge); }
  double Value(double x) const { return 1 - std::pow(1 - std::pow(Inner(x), a), b); }
  double Slope(double x) const {
    if (x < kEdge || x > 1 - kEdge) return 0;
    return a * b * std::pow(x, a - 1) * std::pow(1 - std::pow(x, a), b - 1);
  }
  // By the logarithms of a and b.
  double ByLogA(double x) const {
    const double power = std::pow(Inner(x), a);
    return a * b * std::pow(1 - power, b - 1) * power * std::log(Inner(x));
  }
  double ByLogB(double x) const {
    const double rest = 1 - std::pow(Inner(x), a);
    return -b * std::pow(rest, b) * std::log(rest);
  }
};

Warp WarpAt(const GpTheta& theta, Index at) {
  return {std::exp(theta[at]), std::exp(theta[at + 1])};
}

// Coordinates after warp and division by their lengths. Categories are only divided.
MatrixXd Scaled(const GpShape& shape, const GpTheta& theta, MatrixXd x) {
  const Layout layout(shape);
  layout.EachWarp([&](Index d, Index at) {
    const Warp warp = WarpAt(theta, at);
    for (Index i = 0; i < x.cols(); ++i) x(d, i) = warp.Value(x(d, i));
  });
  for (Index d = 0; d < shape.size(); ++d) x.row(d) *= std::exp(-theta[layout.Length(d)]);
  return x;
}

// The part of the points that has distances.
MatrixXd OrderedRows(const GpShape& shape, const MatrixXd& scaled) {
  MatrixXd rows = scaled;
  for (Index d = 0; d < shape.size(); ++d) {
    if (!shape.ordered[static_cast<std::size_t>(d)]) rows.row(d).setZero();
  }
  return rows;
}

// Squared distances between the columns of two sets of scaled points.
ArrayXXd SquaredDistances(const GpShape& shape, const GpTheta& theta, const MatrixXd& a,
                          const MatrixXd& b) {
  const MatrixXd left = OrderedRows(shape, a);
  const MatrixXd right = OrderedRows(shape, b);
  ArrayXXd squares = (-2 * left.transpose() * right).array();
  squares.colwise() += left.colwise().squaredNorm().transpose().array();
  squares.rowwise() += right.colwise().squaredNorm().array();
  for (Index d = 0; d < shape.size(); ++d) {
    if (shape.ordered[static_cast<std::size_t>(d)]) continue;
    const double differ = std::exp(-2 * theta[Layout(shape).Length(d)]);
    for (Index j = 0; j < b.cols(); ++j) {
      for (Index i = 0; i < a.cols(); ++i) {
        if (a(d, i) != b(d, j)) squares(i, j) += differ;
      }
    }
  }
  return squares.max(0);
}

// Matérn 5/2 of squared distances, for amplitude 1.
ArrayXXd Matern(const ArrayXXd& squares) {
  const ArrayXXd r = kRoot5 * squares.sqrt();
  return (1 + r + (5.0 / 3) * squares) * (-r).exp();
}

// Its derivative by the squared distance.
ArrayXXd MaternSlope(const ArrayXXd& squares) {
  const ArrayXXd r = kRoot5 * squares.sqrt();
  return (-5.0 / 6) * (1 + r) * (-r).exp();
}

double Amplitude(const GpTheta& theta) { return std::exp(theta[0]); }
double Noise(const GpTheta& theta) { return std::exp(theta[1]) + kNoiseFloor; }

struct PriorTerm {
  double mean = 0;
  double deviation = 1;
};

// Adds the prior of one hyperparameter.
double AddPrior(PriorTerm prior, double value, double& gradient) {
  const double z = (value - prior.mean) / prior.deviation;
  gradient -= z / prior.deviation;
  return -0.5 * z * z;
}

double LengthMean(const GpShape& shape, const GpPriors& priors) {
  return priors.length_mean + 0.5 * std::log(static_cast<double>(shape.size()));
}

double AddPriors(const GpShape& shape, const GpPriors& priors, const GpTheta& theta,
                 GpTheta& gradient) {
  const Layout layout(shape);
  double sum = AddPrior({0, priors.amplitude_deviation}, theta[0], gradient[0]);
  sum += AddPrior({priors.noise_mean, priors.noise_deviation}, theta[1], gradient[1]);
  for (Index d = 0; d < shape.size(); ++d) {
    const Index at = layout.Length(d);
    sum += AddPrior({LengthMean(shape, priors), priors.length_deviation}, theta[at], gradient[at]);
  }
  layout.EachWarp([&](Index, Index at) {
    for (const Index i : {at, at + 1}) {
      sum += AddPrior({0, priors.warp_deviation}, theta[i], gradient[i]);
    }
  });
  return sum;
}

// The gradient of the likelihood by lengths and warps. With G the derivative of the likelihood by
// the squared distances and u a scaled coordinate, sum_ij G_ij (u_i - u_j)(v_i - v_j) is 2 sum_i
// v_i (u_i g_i - (G u)_i) with g the row sums of G: one product for all coordinates.
void AddDistanceGradient(const GpShape& shape, const GpTheta& theta, const GpData& data,
                         const MatrixXd& by_square, GpTheta& gradient) {
  const Layout layout(shape);
  const MatrixXd scaled = Scaled(shape, theta, data.x);
  const VectorXd row_sums = by_square.rowwise().sum();
  // (n x d): u_i g_i - (G u)_i
  const MatrixXd pulls =
      row_sums.asDiagonal() * scaled.transpose() - by_square * scaled.transpose();
  for (Index d = 0; d < shape.size(); ++d) {
    double sum = 0;
    if (shape.ordered[static_cast<std::size_t>(d)]) {
      sum = 2 * scaled.row(d).dot(pulls.col(d));
    } else {
      const double differ = std::exp(-2 * theta[layout.Length(d)]);
      for (Index j = 0; j < data.x.cols(); ++j) {
        for (Index i = 0; i < data.x.cols(); ++i) {
          if (data.x(d, i) != data.x(d, j)) sum += differ * by_square(i, j);
        }
      }
    }
    gradient[layout.Length(d)] -= sum;
  }
  layout.EachWarp([&](Index d, Index at) {
    const Warp warp = WarpAt(theta, at);
    const double shrink = std::exp(-theta[layout.Length(d)]);
    for (Index i = 0; i < data.x.cols(); ++i) {
      gradient[at] += 2 * shrink * warp.ByLogA(data.x(d, i)) * pulls(i, d);
      gradient[at + 1] += 2 * shrink * warp.ByLogB(data.x(d, i)) * pulls(i, d);
    }
  });
}

}  // namespace

GpTheta DefaultTheta(const GpShape& shape, const GpPriors& priors) {
  const Layout layout(shape);
  GpTheta theta = GpTheta::Zero(layout.size());
  theta[1] = std::max(priors.noise_mean, -7.0);
  for (Index d = 0; d < shape.size(); ++d) theta[layout.Length(d)] = LengthMean(shape, priors);
  return theta;
}

double LogPosterior(const GpShape& shape, const GpPriors& priors, const GpData& data,
                    const GpTheta& theta, GpTheta& gradient) {
  constexpr double kBound = 20;  // e^20: far beyond the priors, near overflow in the products
  gradient = GpTheta::Zero(theta.size());
  if (!(theta.cwiseAbs().maxCoeff() < kBound)) return -std::numeric_limits<double>::infinity();
  const Index n = data.x.cols();
  const MatrixXd scaled = Scaled(shape, theta, data.x);
  const ArrayXXd squares = SquaredDistances(shape, theta, scaled, scaled);
  MatrixXd covariance = (Amplitude(theta) * Matern(squares)).matrix();
  MatrixXd noisy = covariance;
  noisy.diagonal().array() += Noise(theta);
  const Eigen::LLT<MatrixXd> llt(noisy);
  if (llt.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const VectorXd alpha = llt.solve(data.y);
  const double log_determinant = 2 * llt.matrixLLT().diagonal().array().log().sum();
  const double likelihood = -0.5 * (data.y.dot(alpha) + log_determinant +
                                    static_cast<double>(n) * std::log(2 * std::numbers::pi));
  // d likelihood / d covariance is half of this.
  MatrixXd weight = llt.solve(MatrixXd::Identity(n, n));
  weight = alpha * alpha.transpose() - weight;
  gradient[0] = 0.5 * (weight.array() * covariance.array()).sum();
  gradient[1] = 0.5 * std::exp(theta[1]) * weight.trace();
  const MatrixXd by_square = (weight.array() * (Amplitude(theta) * MaternSlope(squares))).matrix();
  AddDistanceGradient(shape, theta, data, by_square, gradient);
  return likelihood + AddPriors(shape, priors, theta, gradient);
}

GpTheta FitTheta(const GpShape& shape, const GpPriors& priors, const GpData& data,
                 const GpTheta& start, const LbfgsOptions& options) {
  auto negative = [&](const VectorXd& theta, VectorXd& gradient) {
    const double value = LogPosterior(shape, priors, data, theta, gradient);
    gradient = -gradient;
    return -value;
  };
  return MinimizeLbfgs(negative, start, options).x;
}

GaussianProcess::GaussianProcess(GpShape shape, GpTheta theta, GpData data, PriorMean prior_mean)
    : shape_(std::move(shape)),
      theta_(std::move(theta)),
      data_(std::move(data)),
      prior_mean_(std::move(prior_mean)) {
  scaled_ = Scaled(shape_, theta_, data_.x);
  MatrixXd noisy =
      (Amplitude(theta_) * Matern(SquaredDistances(shape_, theta_, scaled_, scaled_))).matrix();
  double noise = Noise(theta_);
  noisy.diagonal().array() += noise;
  llt_.compute(noisy);
  // Rounding may leave nearly equal points without a factor: a little more noise always helps.
  for (; llt_.info() != Eigen::Success; noise *= 10) {
    noisy.diagonal().array() += 9 * noise;
    llt_.compute(noisy);
    CHECK_MSG(noise < 1e6, "the covariance holds no numbers");
  }
  alpha_ = llt_.solve(data_.y);
}

MatrixXd GaussianProcess::CrossCovariance(const MatrixXd& x) const {
  const MatrixXd scaled = Scaled(shape_, theta_, x);
  return (Amplitude(theta_) * Matern(SquaredDistances(shape_, theta_, scaled_, scaled))).matrix();
}

VectorXd GaussianProcess::PriorMeans(const MatrixXd& x) const {
  VectorXd sum = VectorXd::Zero(x.cols());
  for (const auto& [weight, process] : prior_mean_) {
    VectorXd mean;
    VectorXd deviation;
    process->Predict(x, mean, deviation);
    sum += weight * mean;
  }
  return sum;
}

VectorXd GaussianProcess::FittedMeans() const {
  return PriorMeans(data_.x) + CrossCovariance(data_.x).transpose() * alpha_;
}

void GaussianProcess::Predict(const MatrixXd& x, VectorXd& mean, VectorXd& deviation) const {
  MatrixXd cross = CrossCovariance(x);
  mean = PriorMeans(x) + cross.transpose() * alpha_;
  llt_.matrixL().solveInPlace(cross);
  deviation = (Amplitude(theta_) - cross.colwise().squaredNorm().transpose().array())
                  .max(kVarianceFloor)
                  .sqrt()
                  .matrix();
}

GaussianProcess::Prediction GaussianProcess::Predict(const VectorXd& x) const {
  VectorXd mean;
  VectorXd deviation;
  Predict(MatrixXd(x), mean, deviation);
  return {mean[0], deviation[0]};
}

GaussianProcess::Prediction GaussianProcess::Predict(const VectorXd& x, VectorXd& mean_gradient,
                                                     VectorXd& deviation_gradient) const {
  const MatrixXd scaled = Scaled(shape_, theta_, x);
  const ArrayXXd squares = SquaredDistances(shape_, theta_, scaled_, scaled);
  VectorXd cross = (Amplitude(theta_) * Matern(squares)).matrix();
  const VectorXd slope = (Amplitude(theta_) * MaternSlope(squares)).matrix();
  Prediction prediction{.mean = cross.dot(alpha_)};
  llt_.matrixL().solveInPlace(cross);
  prediction.deviation =
      std::sqrt(std::max(Amplitude(theta_) - cross.squaredNorm(), kVarianceFloor));
  llt_.matrixU().solveInPlace(cross);  // now the inverse covariance times the cross covariance
  mean_gradient = VectorXd::Zero(shape_.size());
  deviation_gradient = VectorXd::Zero(shape_.size());
  const Layout layout(shape_);
  VectorXd chain = VectorXd::Zero(shape_.size());
  for (Index d = 0; d < shape_.size(); ++d) {
    if (!shape_.ordered[static_cast<std::size_t>(d)]) continue;
    chain[d] = 2 * std::exp(-theta_[layout.Length(d)]);
  }
  layout.EachWarp([&](Index d, Index at) { chain[d] *= WarpAt(theta_, at).Slope(x[d]); });
  // d r^2 / d x_d = chain_d (u_d - u_id)
  const MatrixXd differences = (-scaled_).colwise() + scaled.col(0);
  const VectorXd by_mean = alpha_.cwiseProduct(slope);
  const VectorXd by_variance = -2 * cross.cwiseProduct(slope);
  mean_gradient = chain.cwiseProduct(differences * by_mean);
  deviation_gradient = chain.cwiseProduct(differences * by_variance) / (2 * prediction.deviation);
  for (const auto& [weight, process] : prior_mean_) {
    VectorXd by_parent;
    VectorXd ignored;
    prediction.mean += weight * process->Predict(x, by_parent, ignored).mean;
    mean_gradient += weight * by_parent;
  }
  return prediction;
}

}  // namespace sabia::tuner
