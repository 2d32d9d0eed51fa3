#include "api/metric_requests.h"

#include <limits>

#include "model/limits.h"

namespace sabia::api {

wire::AwsResult<std::map<std::string, std::string>> DimensionsOf(const json::object& in) {
  std::map<std::string, std::string> out;
  const json::array* list = FindArray(in, "Dimensions");
  if (list == nullptr) return out;
  if (list->size() > model::kMetricDimensionsMax) {
    return RefuseValue("The collection Dimensions must not have a size greater than {}.",
                       model::kMetricDimensionsMax);
  }
  for (const json::value& value : *list) {
    const json::object& dimension = value.get_object();
    const std::string name = GetString(dimension, "Name");
    if (!out.emplace(name, GetString(dimension, "Value")).second) {
      return RefuseValue("Dimension '{}' is given twice.", name);
    }
  }
  return out;
}

json::array DimensionsToJson(const std::map<std::string, std::string>& dimensions) {
  json::array out;
  for (const auto& [name, value] : dimensions) out.push_back({{"Name", name}, {"Value", value}});
  return out;
}

std::optional<double> NumberOf(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = View(value.get_string());
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace sabia::api
