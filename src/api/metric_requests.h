// What the CloudWatch actions share: reading dimensions, wording of refusals. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::api {

template <typename... Args>
[[nodiscard]] tl::unexpected<wire::AwsError> RefuseValue(fmt::format_string<Args...> format,
                                                         Args&&... args) {
  return wire::Refuse("InvalidParameterValue", 400, format, std::forward<Args>(args)...);
}
template <typename... Args>
[[nodiscard]] tl::unexpected<wire::AwsError> RefuseCombination(fmt::format_string<Args...> format,
                                                               Args&&... args) {
  return wire::Refuse("InvalidParameterCombination", 400, format, std::forward<Args>(args)...);
}

// The Dimensions member of a datum or query; at most 30, no name twice.
wire::AwsResult<std::map<std::string, std::string>> DimensionsOf(const json::object& in);

json::array DimensionsToJson(const std::map<std::string, std::string>& dimensions);

// A number, or one of "NaN", "Infinity", "-Infinity", which is how JSON clients write those.
std::optional<double> NumberOf(const json::value& value);

}  // namespace sabia::api
