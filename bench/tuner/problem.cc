#include "problem.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "tuner/rng.h"
#include "tuner/testing/bbob.h"

namespace sabia::bench {
namespace {

using tuner::Configuration;
using tuner::ParameterKind;
using tuner::ParameterRange;
using tuner::Point;
using tuner::Scaling;
using tuner::Space;

double Number(const std::string& text) { return std::stod(text); }

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Function : public Problem {
 public:
  Function(tuner::Bbob bbob, std::vector<ParameterRange> ranges, Space space)
      : bbob_(std::move(bbob)), ranges_(std::move(ranges)), space_(std::move(space)) {
    best_ = bbob_.best_value();
    constexpr int kDraws = 10001;
    tuner::Rng rng(0, tuner::Stream{77});
    std::vector<double> values;
    for (int i = 0; i < kDraws; ++i) {
      Eigen::VectorXd x(static_cast<Eigen::Index>(space_.size()));
      for (double& coordinate : x) coordinate = tuner::kBbobBound * (2 * rng.Uniform() - 1);
      values.push_back(bbob_.Value(x));
    }
    median_ = MedianOf(std::move(values));
  }
  const Space& space() const override { return space_; }
  const std::vector<ParameterRange>& ranges() const override { return ranges_; }
  double Evaluate(const Configuration& values) const override {
    Eigen::VectorXd x(static_cast<Eigen::Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      x[static_cast<Eigen::Index>(i)] = Number(values[i]);
    }
    return bbob_.Value(x);
  }

 private:
  tuner::Bbob bbob_;
  std::vector<ParameterRange> ranges_;
  Space space_;
};

Result<std::unique_ptr<Problem>> OpenFunction(const std::string& name) {
  tuner::Bbob::Instance instance;
  char colon = 0;
  std::istringstream in(name);
  in.ignore(5);
  if (!(in >> instance.function >> colon >> instance.dimensions >> colon >> instance.seed)) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not bbob:FUNCTION:DIMENSIONS:SEED", name);
  }
  std::vector<ParameterRange> ranges;
  for (int d = 0; d < instance.dimensions; ++d) {
    ranges.push_back(
        {.name = fmt::format("x{}", d), .min = "-5", .max = "5", .scaling = Scaling::kLinear});
  }
  ASSIGN_OR_RETURN(Space space, Space::Create(ranges));
  return std::make_unique<Function>(tuner::Bbob(instance), std::move(ranges), std::move(space));
}

std::vector<std::string> Split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

struct Rows {
  std::vector<std::string> header;
  std::vector<Configuration> values;
  std::vector<double> objectives;
};

Result<Rows> ReadRows(const std::string& path) {
  std::ifstream in(path);
  Rows rows;
  std::string line;
  if (!std::getline(in, line)) return Fail(ErrorCode::kNotFound, "cannot read '{}'", path);
  rows.header = Split(line, ',');
  while (std::getline(in, line)) {
    Configuration fields = Split(line, ',');
    if (fields.size() != rows.header.size()) return Fail(ErrorCode::kCorrupt, "'{}'", line);
    rows.objectives.push_back(Number(fields.back()));
    fields.pop_back();
    rows.values.push_back(std::move(fields));
  }
  return rows;
}

// The range of a column: its smallest to its largest value, or its values.
ParameterRange RangeOf(const Rows& rows, std::size_t column) {
  const std::vector<std::string> head = Split(rows.header[column], ':');
  ParameterRange range{.name = head[0]};
  const std::string& kind = head.at(1);
  auto less = [&](const Configuration& a, const Configuration& b) {
    return Number(a[column]) < Number(b[column]);
  };
  if (kind == "categorical" || kind == "ordinal") {
    range.kind = ParameterKind::kCategorical;
    for (const Configuration& row : rows.values) {
      if (std::ranges::find(range.values, row[column]) == range.values.end()) {
        range.values.push_back(row[column]);
      }
    }
    return range;
  }
  range.kind = kind.ends_with("int") ? ParameterKind::kInteger : ParameterKind::kContinuous;
  range.scaling = kind.starts_with("log") ? Scaling::kLogarithmic : Scaling::kLinear;
  range.min = (*std::ranges::min_element(rows.values, less))[column];
  range.max = (*std::ranges::max_element(rows.values, less))[column];
  return range;
}

class Table : public Problem {
 public:
  Table(Rows rows, std::vector<ParameterRange> ranges, Space space)
      : rows_(std::move(rows)), ranges_(std::move(ranges)), space_(std::move(space)) {
    best_ = *std::ranges::min_element(rows_.objectives);
    median_ = MedianOf(rows_.objectives);
    for (std::size_t i = 0; i < rows_.values.size(); ++i) {
      exact_.emplace(rows_.values[i], i);
      points_.push_back(*space_.Encode(rows_.values[i]));
    }
  }
  const Space& space() const override { return space_; }
  const std::vector<ParameterRange>& ranges() const override { return ranges_; }
  double Evaluate(const Configuration& values) const override {
    const auto found = exact_.find(values);
    if (found != exact_.end()) return rows_.objectives[found->second];
    const Point point = *space_.Encode(values);
    std::size_t nearest = 0;
    double least = 1e300;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      double distance = 0;
      for (std::size_t d = 0; d < point.size(); ++d) {
        distance += (point[d] - points_[i][d]) * (point[d] - points_[i][d]);
      }
      if (distance < least) nearest = i;
      least = std::min(least, distance);
    }
    return rows_.objectives[nearest];
  }

 private:
  Rows rows_;
  std::vector<ParameterRange> ranges_;
  Space space_;
  std::map<Configuration, std::size_t> exact_;
  std::vector<Point> points_;
};

}  // namespace

Result<std::unique_ptr<Problem>> OpenProblem(const std::string& name) {
  if (name.starts_with("bbob:")) return OpenFunction(name);
  ASSIGN_OR_RETURN(Rows rows, ReadRows(name));
  std::vector<ParameterRange> ranges;
  for (std::size_t c = 0; c + 1 < rows.header.size(); ++c) ranges.push_back(RangeOf(rows, c));
  ASSIGN_OR_RETURN(Space space, Space::Create(ranges));
  return std::make_unique<Table>(std::move(rows), std::move(ranges), std::move(space));
}

}  // namespace sabia::bench
