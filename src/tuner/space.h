// What is searched: named ranges, and the way between a configuration (texts) and a point of the
// unit cube.
//
// Bounds are inclusive and never left. A value's text is the truth; a point is derived from it. A
// range with one value is a constant: accepted, and no strategy varies it. Immutable, thread-safe.
// Errors: kInvalidArgument names the parameter, the value and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::tuner {

enum class ParameterKind { kContinuous, kInteger, kCategorical };
std::string_view Name(ParameterKind kind);  // "continuous", "integer", "categorical"
enum class Scaling { kAuto, kLinear, kLogarithmic, kReverseLogarithmic };

// One range as a request has it.
struct ParameterRange {
  std::string name;
  ParameterKind kind = ParameterKind::kContinuous;
  std::string min;  // continuous and integer
  std::string max;
  Scaling scaling = Scaling::kAuto;
  std::vector<std::string> values;  // categorical, byte for byte
};

// One text per parameter, in the order of the space.
using Configuration = std::vector<std::string>;
// One coordinate per parameter in [0, 1]; a category lies at the middle of its share.
using Point = std::vector<double>;

// Auto takes a logarithm when the bounds are this far apart.
inline constexpr double kAutoLogRatio = 100;
// More distinct configurations than anybody counts.
inline constexpr std::uint64_t kUncountable = UINT64_MAX;

class Parameter {
 public:
  static Result<Parameter> Create(ParameterRange range);

  const std::string& name() const { return range_.name; }
  ParameterKind kind() const { return range_.kind; }
  Scaling scaling() const { return scaling_; }  // never kAuto
  bool IsConstant() const { return Count() == 1; }
  // Distinct values; kUncountable for a continuous range that is no constant.
  std::uint64_t Count() const;
  // Whether neighbouring coordinates are alike: numbers, and categories that are all numbers.
  bool IsOrdered() const { return ordered_; }

  // The coordinate of a text; outside of [0, 1] for a number out of bounds (a parent job's range
  // may have been wider), nothing for a text that is no value of this kind.
  std::optional<double> Encode(std::string_view text) const;
  // The text of a coordinate, which is clamped to [0, 1]. Numbers read back to the same double.
  std::string Decode(double coordinate) const;
  // The n-th of Count() values, categories in the order of the range.
  std::string Nth(std::uint64_t n) const;
  // The coordinate that Encode(Decode(coordinate)) gives, without the texts.
  double Snap(double coordinate) const;

 private:
  explicit Parameter(ParameterRange range) : range_(std::move(range)) {}
  Status ReadBounds();
  Status ReadCategories();
  Status CheckScaling();
  double Scaled(double value) const;
  double Value(double coordinate) const;
  std::size_t Category(double coordinate) const;

  ParameterRange range_;
  Scaling scaling_ = Scaling::kLinear;
  bool ordered_ = true;
  double min_ = 0;
  double max_ = 0;
  double low_ = 0;  // the coordinates 0 and 1 on the scale
  double high_ = 1;
  std::vector<std::size_t> order_;  // rank -> index of the category
};

class Space {
 public:
  // At least one range, names distinct.
  static Result<Space> Create(std::vector<ParameterRange> ranges);

  std::size_t size() const { return parameters_.size(); }
  const Parameter& operator[](std::size_t i) const { return parameters_[i]; }
  // Distinct configurations; kUncountable when there are too many.
  std::uint64_t Count() const;

  // Nothing when a text is no value of its parameter or one is missing.
  std::optional<Point> Encode(const Configuration& values) const;
  Configuration Decode(const Point& point) const;
  Point Snap(const Point& point) const;
  // The n-th of Count() configurations, the last parameter fastest. REQUIRES that they are
  // countable.
  Configuration Nth(std::uint64_t n) const;

 private:
  explicit Space(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}
  std::vector<Parameter> parameters_;
};

// A number as AWS prints tuned values: the shortest text that reads back, always with a point or an
// exponent ("0.1", "1.0", "1e-05").
std::string PrintContinuous(double value);

}  // namespace sabia::tuner
