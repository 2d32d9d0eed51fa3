#include "wire/codec.h"

#include <cmath>
#include <limits>

#include "base/encoding.h"

namespace sabia::wire::codec {
namespace {

constexpr double kTimestampSecondsMax = 253402300799.0;  // the end of the year 9999

// Integers may be written as 3.0; a fraction or a value out of range is not read.
std::optional<std::int64_t> ReadInteger(const json::value& in) {
  if (in.is_int64()) return in.get_int64();
  if (!in.is_double()) return std::nullopt;  // an unsigned number beyond the signed range
  const double number = in.get_double();
  if (number != std::trunc(number) || std::abs(number) >= 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

bool ReadValue(const json::value& in, std::string& out) {
  if (!in.is_string()) return false;
  out = View(in.get_string());
  return true;
}

bool ReadValue(const json::value& in, std::int64_t& out) {
  const auto number = ReadInteger(in);
  out = number.value_or(0);
  return number.has_value();
}

bool ReadValue(const json::value& in, std::int32_t& out) {
  const auto number = ReadInteger(in);
  if (!number || *number < std::numeric_limits<std::int32_t>::min() ||
      *number > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  out = static_cast<std::int32_t>(*number);
  return true;
}

bool ReadValue(const json::value& in, double& out) {
  if (in.is_string()) {
    const auto text = View(in.get_string());
    const double infinity = std::numeric_limits<double>::infinity();
    out = text == "Infinity" ? infinity : text == "-Infinity" ? -infinity : std::nan("");
    return text == "NaN" || text == "Infinity" || text == "-Infinity";
  }
  if (!in.is_number()) return false;
  out = in.is_double()  ? in.get_double()
        : in.is_int64() ? static_cast<double>(in.get_int64())
                        : static_cast<double>(in.get_uint64());
  return true;
}

bool ReadValue(const json::value& in, bool& out) {
  if (!in.is_bool()) return false;
  out = in.get_bool();
  return true;
}

bool ReadValue(const json::value& in, WallTime& out) {
  if (in.is_string()) {
    auto time = ParseIso8601(View(in.get_string()));
    if (!time) time = ParseRfc1123(View(in.get_string()));
    if (time) out = *time;
    return time.has_value();
  }
  double seconds = 0;
  if (!ReadValue(in, seconds) || !(std::abs(seconds) <= kTimestampSecondsMax)) return false;
  out = FromUnixSeconds(seconds);
  return true;
}

bool ReadValue(const json::value& in, Blob& out) {
  if (!in.is_string()) return false;
  auto bytes = Base64Decode(View(in.get_string()));
  if (!bytes) return false;
  out.bytes = std::move(*bytes);
  return true;
}

json::value WriteValue(const std::string& in) { return json::value(in); }
json::value WriteValue(std::int32_t in) { return static_cast<std::int64_t>(in); }
json::value WriteValue(std::int64_t in) { return in; }
json::value WriteValue(bool in) { return in; }
json::value WriteValue(WallTime in) { return ToUnixSeconds(in); }
json::value WriteValue(const Blob& in) { return json::value(Base64Encode(in.bytes)); }

json::value WriteValue(double in) {
  if (std::isnan(in)) return "NaN";
  if (std::isinf(in)) return in > 0 ? "Infinity" : "-Infinity";
  return in;
}

}  // namespace sabia::wire::codec
