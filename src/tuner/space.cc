#include "tuner/space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/check.h"

namespace sabia::tuner {
namespace {

// Integers beyond are no longer exact as doubles.
constexpr double kIntegerLimit = 0x1p53;

std::optional<double> ReadNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<double> ReadInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  const auto number = static_cast<double>(value);
  if (std::abs(number) > kIntegerLimit) return {};
  return number;
}

std::string_view Name(Scaling scaling) {
  switch (scaling) {
    case Scaling::kAuto:
      return "Auto";
    case Scaling::kLinear:
      return "Linear";
    case Scaling::kLogarithmic:
      return "Logarithmic";
    case Scaling::kReverseLogarithmic:
      return "ReverseLogarithmic";
  }
  return "";
}

}  // namespace

std::string_view Name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kContinuous:
      return "continuous";
    case ParameterKind::kInteger:
      return "integer";
    case ParameterKind::kCategorical:
      return "categorical";
  }
  return "";
}

std::string PrintContinuous(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Result<Parameter> Parameter::Create(ParameterRange range) {
  Parameter parameter(std::move(range));
  if (parameter.kind() == ParameterKind::kCategorical) {
    RETURN_IF_ERROR(parameter.ReadCategories());
    return parameter;
  }
  RETURN_IF_ERROR(parameter.ReadBounds());
  RETURN_IF_ERROR(parameter.CheckScaling());
  // An integer owns the half-open interval around it, so that the bounds are drawn as often as the
  // others.
  const double margin = parameter.kind() == ParameterKind::kInteger ? 0.5 : 0;
  parameter.low_ = parameter.Scaled(parameter.min_ - margin);
  parameter.high_ = parameter.Scaled(parameter.max_ + margin);
  return parameter;
}

Status Parameter::ReadBounds() {
  const bool integer = kind() == ParameterKind::kInteger;
  const auto read = integer ? ReadInteger : ReadNumber;
  const auto min = read(range_.min);
  const auto max = read(range_.max);
  for (const auto& [value, text] : {std::pair(min, &range_.min), std::pair(max, &range_.max)}) {
    if (value) continue;
    return Fail(ErrorCode::kInvalidArgument, "parameter '{}': bound '{}' is no {}", name(), *text,
                integer ? "integer between -2^53 and 2^53" : "finite number");
  }
  if (*min > *max) {
    return Fail(ErrorCode::kInvalidArgument,
                "parameter '{}': the minimum {} is above the maximum {}", name(), range_.min,
                range_.max);
  }
  min_ = *min;
  max_ = *max;
  return {};
}

Status Parameter::ReadCategories() {
  const auto& values = range_.values;
  if (values.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "parameter '{}' has no values", name());
  }
  std::vector<double> numbers;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!seen.insert(values[i]).second) {
      return Fail(ErrorCode::kInvalidArgument, "parameter '{}' has the value '{}' twice", name(),
                  values[i]);
    }
    if (const auto number = ReadNumber(values[i])) numbers.push_back(*number);
    order_.push_back(i);
  }
  // Two values have no order to learn from.
  ordered_ = numbers.size() == values.size() && values.size() > 2;
  if (ordered_) {
    std::ranges::stable_sort(order_,
                             [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  }
  return {};
}

Status Parameter::CheckScaling() {
  scaling_ = range_.scaling;
  const bool integer = kind() == ParameterKind::kInteger;
  const bool may_log = min_ > 0;
  const bool may_reverse = !integer && min_ >= 0 && max_ < 1;
  if (scaling_ == Scaling::kAuto) {
    scaling_ = Scaling::kLinear;
    if (may_reverse && (1 - min_) / (1 - max_) >= kAutoLogRatio) {
      scaling_ = Scaling::kReverseLogarithmic;
    }
    if (may_log && max_ / min_ >= kAutoLogRatio) scaling_ = Scaling::kLogarithmic;
  }
  if (scaling_ == Scaling::kLogarithmic && !may_log) {
    return Fail(ErrorCode::kInvalidArgument,
                "parameter '{}': Logarithmic scaling needs a minimum above 0, not {}", name(),
                range_.min);
  }
  if (scaling_ == Scaling::kReverseLogarithmic && !may_reverse) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "parameter '{}': {} scaling needs a continuous range within 0 <= x < 1, not {} to {}",
        name(), Name(scaling_), range_.min, range_.max);
  }
  return {};
}

std::uint64_t Parameter::Count() const {
  switch (kind()) {
    case ParameterKind::kCategorical:
      return range_.values.size();
    case ParameterKind::kInteger:
      return static_cast<std::uint64_t>(max_ - min_) + 1;
    case ParameterKind::kContinuous:
      return min_ == max_ ? 1 : kUncountable;
  }
  return 0;
}

double Parameter::Scaled(double value) const {
  switch (scaling_) {
    case Scaling::kLogarithmic:
      return std::log(value);
    case Scaling::kReverseLogarithmic:
      return -std::log1p(-value);
    default:
      return value;
  }
}

double Parameter::Value(double coordinate) const {
  // The way through the scale may miss a bound by a rounding.
  if (coordinate <= 0 || IsConstant()) return min_;
  if (coordinate >= 1) return max_;
  const double scaled = low_ + coordinate * (high_ - low_);
  double value = scaled;
  if (scaling_ == Scaling::kLogarithmic) value = std::exp(scaled);
  if (scaling_ == Scaling::kReverseLogarithmic) value = -std::expm1(-scaled);
  if (kind() == ParameterKind::kInteger) value = std::round(value);
  return std::clamp(value, min_, max_);
}

std::size_t Parameter::Category(double coordinate) const {
  const auto count = static_cast<double>(order_.size());
  const double rank = std::clamp(std::floor(coordinate * count), 0.0, count - 1);
  return static_cast<std::size_t>(rank);
}

std::optional<double> Parameter::Encode(std::string_view text) const {
  if (kind() == ParameterKind::kCategorical) {
    for (std::size_t rank = 0; rank < order_.size(); ++rank) {
      if (range_.values[order_[rank]] != text) continue;
      return (static_cast<double>(rank) + 0.5) / static_cast<double>(order_.size());
    }
    return {};
  }
  const auto value = kind() == ParameterKind::kInteger ? ReadInteger(text) : ReadNumber(text);
  if (!value || !std::isfinite(Scaled(*value))) return {};
  return IsConstant() ? 0.5 : (Scaled(*value) - low_) / (high_ - low_);
}

std::string Parameter::Decode(double coordinate) const {
  if (kind() == ParameterKind::kCategorical) return range_.values[order_[Category(coordinate)]];
  if (kind() == ParameterKind::kInteger) {
    return fmt::format("{}", static_cast<std::int64_t>(Value(coordinate)));
  }
  return PrintContinuous(Value(coordinate));
}

std::string Parameter::Nth(std::uint64_t n) const {
  CHECK(n < Count());
  if (kind() == ParameterKind::kCategorical) return range_.values[n];
  if (kind() == ParameterKind::kInteger) {
    return fmt::format("{}", static_cast<std::int64_t>(min_) + static_cast<std::int64_t>(n));
  }
  return PrintContinuous(min_);
}

double Parameter::Snap(double coordinate) const {
  if (kind() == ParameterKind::kCategorical) {
    return (static_cast<double>(Category(coordinate)) + 0.5) / static_cast<double>(order_.size());
  }
  if (IsConstant()) return 0.5;
  return (Scaled(Value(coordinate)) - low_) / (high_ - low_);
}

Result<Space> Space::Create(std::vector<ParameterRange> ranges) {
  if (ranges.empty()) return Fail(ErrorCode::kInvalidArgument, "there is no parameter to tune");
  std::vector<Parameter> parameters;
  std::set<std::string> names;
  for (ParameterRange& range : ranges) {
    if (!names.insert(range.name).second) {
      return Fail(ErrorCode::kInvalidArgument, "parameter '{}' has two ranges", range.name);
    }
    ASSIGN_OR_RETURN(Parameter parameter, Parameter::Create(std::move(range)));
    parameters.push_back(std::move(parameter));
  }
  return Space(std::move(parameters));
}

std::uint64_t Space::Count() const {
  std::uint64_t product = 1;
  for (const Parameter& parameter : parameters_) {
    if (__builtin_mul_overflow(product, parameter.Count(), &product)) return kUncountable;
  }
  return product;
}

std::optional<Point> Space::Encode(const Configuration& values) const {
  if (values.size() != size()) return {};
  Point point(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const auto coordinate = parameters_[i].Encode(values[i]);
    if (!coordinate) return {};
    point[i] = *coordinate;
  }
  return point;
}

Configuration Space::Decode(const Point& point) const {
  CHECK(point.size() == size());
  Configuration values(size());
  for (std::size_t i = 0; i < size(); ++i) values[i] = parameters_[i].Decode(point[i]);
  return values;
}

Point Space::Snap(const Point& point) const {
  Point snapped(size());
  for (std::size_t i = 0; i < size(); ++i) snapped[i] = parameters_[i].Snap(point[i]);
  return snapped;
}

Configuration Space::Nth(std::uint64_t n) const {
  CHECK(n < Count());
  Configuration values(size());
  for (std::size_t i = size(); i-- > 0;) {
    const Parameter& parameter = parameters_[i];
    values[i] = parameter.Nth(n % parameter.Count());
    n /= parameter.Count();
  }
  return values;
}

}  // namespace sabia::tuner
