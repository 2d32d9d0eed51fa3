#include "wire/constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/encoding.h"
#include "base/time.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kQuotedBytesMax = 1024;
constexpr double kTimestampSecondsMax = 253402300799.0;  // the end of the year 9999

bool IsNumber(ShapeKind kind) {
  return kind == ShapeKind::kInteger || kind == ShapeKind::kLong || kind == ShapeKind::kFloat ||
         kind == ShapeKind::kDouble;
}

std::size_t CodePoints(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

double NumberOf(const json::value& value) {
  switch (value.kind()) {
    case json::kind::int64:
      return static_cast<double>(value.get_int64());
    case json::kind::uint64:
      return static_cast<double>(value.get_uint64());
    case json::kind::double_:
      return value.get_double();
    default:
      break;
  }
  if (!value.is_string()) return 0;
  const auto text = View(value.get_string());
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "Infinity" ? infinity : text == "-Infinity" ? -infinity : std::nan("");
}

// What min and max measure: the number itself, or the length of the value.
double Measure(const Shape& shape, const json::value& value) {
  if (IsNumber(shape.kind)) return NumberOf(value);
  if (value.is_array()) return static_cast<double>(value.get_array().size());
  if (value.is_object()) return static_cast<double>(value.get_object().size());
  if (!value.is_string()) return 0;
  const auto text = View(value.get_string());
  if (shape.kind != ShapeKind::kBlob) return static_cast<double>(CodePoints(text));
  const auto pad = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return static_cast<double>(text.size() / 4 * 3) - pad;
}

std::string_view MeasureName(const Shape& shape) {
  return IsNumber(shape.kind) ? "value" : "length";
}
std::string BoundText(double bound) {
  const bool integral = bound == std::trunc(bound) && std::abs(bound) < 9e18;
  return integral ? std::to_string(static_cast<std::int64_t>(bound)) : fmt::format("{}", bound);
}
std::string UpperBoundText(const Shape& shape) {
  return fmt::format("Member must have {} less than or equal to {}", MeasureName(shape),
                     BoundText(*shape.max));
}
std::string LowerBoundText(const Shape& shape) {
  return fmt::format("Member must have {} greater than or equal to {}", MeasureName(shape),
                     BoundText(*shape.min));
}
std::string PatternText(const Shape& shape) {
  return fmt::format("Member must satisfy regular expression pattern: {}", shape.pattern->text());
}
std::string EnumText(const Shape& shape) {
  return fmt::format("Member must satisfy enum value set: [{}]",
                     fmt::join(shape.enum_values, ", "));
}

bool IsInteger(const json::value& value, double low, double high) {
  if (!value.is_number()) return false;
  const double number = NumberOf(value);
  if (value.is_double() && number != std::trunc(number)) return false;
  // 2^63 itself is a double, but no long.
  return number >= low &&
         (value.is_double() || value.is_uint64() ? number < high + 1 : number <= high);
}

bool IsFloat(const json::value& value) {
  if (value.is_number()) return true;
  if (!value.is_string()) return false;
  const auto text = View(value.get_string());
  return text == "NaN" || text == "Infinity" || text == "-Infinity";
}

bool IsTimestamp(TimestampFormat format, const json::value& value) {
  if (value.is_number()) {
    const double seconds = NumberOf(value);
    return seconds >= -kTimestampSecondsMax && seconds <= kTimestampSecondsMax;
  }
  if (!value.is_string()) return false;
  const auto text = View(value.get_string());
  if (format == TimestampFormat::kIso8601) return ParseIso8601(text).has_value();
  return format == TimestampFormat::kRfc822 && ParseRfc1123(text).has_value();
}

bool HasType(const Shape& shape, TimestampFormat format, const json::value& value) {
  switch (shape.kind) {
    case ShapeKind::kStructure:
    case ShapeKind::kMap:
      return value.is_object();
    case ShapeKind::kList:
      return value.is_array();
    case ShapeKind::kString:
      return value.is_string();
    case ShapeKind::kBoolean:
      return value.is_bool();
    case ShapeKind::kInteger:
      return IsInteger(value, -2147483648.0, 2147483647.0);
    case ShapeKind::kLong:
      return IsInteger(value, -9223372036854775808.0, 9223372036854775807.0);
    case ShapeKind::kFloat:
    case ShapeKind::kDouble:
      return IsFloat(value);
    case ShapeKind::kTimestamp:
      return IsTimestamp(format, value);
    case ShapeKind::kBlob:
      return value.is_string() && Base64Decode(View(value.get_string())).has_value();
  }
  return false;
}

std::string_view Target(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::kStructure:
      return "a Structure";
    case ShapeKind::kMap:
      return "a Map";
    case ShapeKind::kList:
      return "a List";
    case ShapeKind::kString:
      return "a String";
    case ShapeKind::kBoolean:
      return "a Boolean";
    case ShapeKind::kInteger:
      return "an Integer";
    case ShapeKind::kLong:
      return "a Long";
    case ShapeKind::kFloat:
      return "a Float";
    case ShapeKind::kDouble:
      return "a Double";
    case ShapeKind::kTimestamp:
      return "a Timestamp";
    case ShapeKind::kBlob:
      return "a Blob";
  }
  return "a value";
}

std::string ScalarText(const json::value& value) {
  return value.is_string() ? std::string(View(value.get_string())) : json::serialize(value);
}

bool Quotable(const Shape& shape) {
  return shape.IsScalar() && !shape.sensitive && shape.kind != ShapeKind::kBlob;
}

}  // namespace

std::vector<std::string> ConstraintTexts(const Shape& shape) {
  std::vector<std::string> texts;
  if (shape.max) texts.push_back(UpperBoundText(shape));
  if (shape.min) texts.push_back(LowerBoundText(shape));
  if (shape.pattern != nullptr) texts.push_back(PatternText(shape));
  if (!shape.enum_values.empty()) texts.push_back(EnumText(shape));
  return texts;
}

std::vector<std::string> BrokenConstraints(const Shape& shape, const json::value& value) {
  std::vector<std::string> broken;
  if (shape.max || shape.min) {
    const double measure = Measure(shape, value);
    if (shape.max && measure > *shape.max) broken.push_back(UpperBoundText(shape));
    if (shape.min && measure < *shape.min) broken.push_back(LowerBoundText(shape));
  }
  if (!value.is_string()) return broken;
  const auto text = View(value.get_string());
  if (shape.pattern != nullptr && !shape.pattern->Matches(text))
    broken.push_back(PatternText(shape));
  if (!shape.enum_values.empty() &&
      std::ranges::find(shape.enum_values, text) == shape.enum_values.end()) {
    broken.push_back(EnumText(shape));
  }
  return broken;
}

std::optional<std::string> QuotedValue(const Shape& shape, const json::value& value) {
  if (shape.sensitive) return std::nullopt;
  std::string out;
  if (shape.kind == ShapeKind::kList && Quotable(*shape.element->shape)) {
    for (const auto& item : value.get_array()) {
      out += (out.empty() ? "" : ", ") + ScalarText(item);
      if (out.size() > kQuotedBytesMax) break;
    }
    return "[" + CutText(out, kQuotedBytesMax) + "]";
  }
  if (shape.kind == ShapeKind::kMap && Quotable(*shape.map_key->shape) &&
      Quotable(*shape.map_value->shape)) {
    for (const auto& entry : value.get_object()) {
      out += fmt::format("{}{}={}", out.empty() ? "" : ", ", std::string_view(entry.key()),
                         ScalarText(entry.value()));
      if (out.size() > kQuotedBytesMax) break;
    }
    return "{" + CutText(out, kQuotedBytesMax) + "}";
  }
  if (!Quotable(shape)) return std::nullopt;
  return CutText(ScalarText(value), kQuotedBytesMax);
}

std::string TypeProblem(const Shape& shape, TimestampFormat format, const json::value& value) {
  if (HasType(shape, format, value)) return {};
  switch (value.kind()) {
    case json::kind::object:
      return "Start of structure or map found where not expected";
    case json::kind::array:
      return "Start of list found where not expected";
    case json::kind::string:
      return fmt::format("STRING_VALUE can not be converted to {}", Target(shape.kind));
    case json::kind::bool_:
      return fmt::format("{} can not be converted to {}",
                         value.get_bool() ? "TRUE_VALUE" : "FALSE_VALUE", Target(shape.kind));
    default:
      return fmt::format("NUMBER_VALUE can not be converted to {}", Target(shape.kind));
  }
}

std::string CutText(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string LowerCamelCase(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out[0] >= 'A' && out[0] <= 'Z')
    out[0] = static_cast<char>(out[0] - 'A' + 'a');
  return out;
}

}  // namespace sabia::wire
