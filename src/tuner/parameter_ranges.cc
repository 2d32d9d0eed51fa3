#include "tuner/parameter_ranges.h"

namespace sabia::tuner {
namespace {

Scaling ScalingOf(const json::object& range) {
  const std::string name = GetString(range, "ScalingType", "Auto");
  if (name == "Linear") return Scaling::kLinear;
  if (name == "Logarithmic") return Scaling::kLogarithmic;
  if (name == "ReverseLogarithmic") return Scaling::kReverseLogarithmic;
  return Scaling::kAuto;
}

ParameterRange ReadRange(const json::object& range, ParameterKind kind) {
  ParameterRange out{.name = GetString(range, "Name"), .kind = kind};
  if (kind != ParameterKind::kCategorical) {
    out.min = GetString(range, "MinValue");
    out.max = GetString(range, "MaxValue");
    out.scaling = ScalingOf(range);
    return out;
  }
  if (const json::array* values = FindArray(range, "Values")) {
    for (const json::value& value : *values) out.values.emplace_back(View(value.get_string()));
  }
  return out;
}

}  // namespace

std::vector<ParameterRange> ReadRanges(const json::object& parameter_ranges) {
  std::vector<ParameterRange> out;
  const auto read = [&](const char* list, ParameterKind kind) {
    const json::array* ranges = FindArray(parameter_ranges, list);
    if (ranges == nullptr) return;
    for (const json::value& range : *ranges) out.push_back(ReadRange(range.get_object(), kind));
  };
  read("IntegerParameterRanges", ParameterKind::kInteger);
  read("ContinuousParameterRanges", ParameterKind::kContinuous);
  read("CategoricalParameterRanges", ParameterKind::kCategorical);
  return out;
}

}  // namespace sabia::tuner
