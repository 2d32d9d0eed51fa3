#include "wire/scalar_text.h"

#include <charconv>
#include <cmath>

#include "base/encoding.h"
#include "base/time.h"
#include "wire/constraints.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kQuotedBytesMax = 128;

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<json::value> ReadFloat(std::string_view text) {
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return json::value(text);
  const auto number = ParseNumber<double>(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return json::value(*number);
}

std::optional<json::value> ReadTimestamp(std::string_view text) {
  if (const auto seconds = ParseNumber<double>(text); seconds && std::isfinite(*seconds)) {
    return json::value(*seconds);
  }
  auto time = ParseIso8601(text);
  if (!time) time = ParseRfc1123(text);
  if (!time) return std::nullopt;
  return json::value(ToUnixSeconds(*time));
}

std::optional<json::value> Read(const Member& member, std::string_view text) {
  switch (member.shape->kind) {
    case ShapeKind::kInteger:
    case ShapeKind::kLong: {
      const auto number = ParseNumber<std::int64_t>(text);
      return number ? std::optional<json::value>(*number) : std::nullopt;
    }
    case ShapeKind::kFloat:
    case ShapeKind::kDouble:
      return ReadFloat(text);
    case ShapeKind::kBoolean:
      if (EqualsIgnoreCase(text, "true")) return json::value(true);
      if (EqualsIgnoreCase(text, "false")) return json::value(false);
      return std::nullopt;
    case ShapeKind::kTimestamp:
      return ReadTimestamp(text);
    case ShapeKind::kString:
      return IsUtf8(text) ? std::optional<json::value>(text) : std::nullopt;
    case ShapeKind::kBlob:
      return Base64Decode(text) ? std::optional<json::value>(text) : std::nullopt;
    case ShapeKind::kStructure:
    case ShapeKind::kList:
    case ShapeKind::kMap:
      break;
  }
  return std::nullopt;
}

std::string_view Expected(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::kInteger:
    case ShapeKind::kLong:
      return "an integer";
    case ShapeKind::kFloat:
    case ShapeKind::kDouble:
      return "a number";
    case ShapeKind::kBoolean:
      return "true or false";
    case ShapeKind::kTimestamp:
      return "a timestamp";
    case ShapeKind::kString:
      return "UTF-8 text";
    case ShapeKind::kBlob:
      return "base64";
    case ShapeKind::kStructure:
      return "a structure";
    case ShapeKind::kList:
      return "a list";
    case ShapeKind::kMap:
      return "a map";
  }
  return "a value";
}

std::string TimestampText(WallTime time, TimestampFormat format) {
  const bool whole = time == std::chrono::floor<Seconds>(time);
  switch (format) {
    case TimestampFormat::kRfc822:
      return FormatRfc1123(time);
    case TimestampFormat::kUnix:
      return whole ? std::to_string(ToUnixMillis(time) / 1000)
                   : fmt::format("{:.3f}", ToUnixSeconds(time));
    case TimestampFormat::kDefault:
    case TimestampFormat::kIso8601:
      break;
  }
  return FormatIso8601(time);
}

std::optional<WallTime> TimeOf(const json::value& value) {
  constexpr double kSecondsMax = 253402300799.0;  // the end of the year 9999
  if (value.is_string()) {
    auto time = ParseIso8601(View(value.get_string()));
    if (!time) time = ParseRfc1123(View(value.get_string()));
    return time ? std::optional<WallTime>(*time) : std::nullopt;
  }
  boost::system::error_code not_a_number;
  const double seconds = value.to_number<double>(not_a_number);
  if (not_a_number || !(std::abs(seconds) <= kSecondsMax)) return std::nullopt;
  return FromUnixSeconds(seconds);
}

}  // namespace

TimestampFormat FormatOf(const Member& member, TimestampFormat fallback) {
  if (member.timestamp_format != TimestampFormat::kDefault) return member.timestamp_format;
  return member.shape->timestamp_format != TimestampFormat::kDefault
             ? member.shape->timestamp_format
             : fallback;
}

AwsResult<json::value> ScalarFromText(const Member& member, std::string_view text) {
  if (auto value = Read(member, text)) return std::move(*value);
  const std::string quoted = member.shape->sensitive || !IsUtf8(text)
                                 ? std::string("the value")
                                 : "'" + CutText(text, kQuotedBytesMax) + "'";
  return Refuse("SerializationException", 400, "{} is not {}", quoted,
                Expected(member.shape->kind));
}

std::string ScalarToText(const Member& member, const json::value& value, TimestampFormat fallback) {
  if (member.shape->kind == ShapeKind::kTimestamp) {
    if (const auto time = TimeOf(value)) return TimestampText(*time, FormatOf(member, fallback));
  }
  if (value.is_string()) return std::string(View(value.get_string()));
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return json::serialize(value);
}

}  // namespace sabia::wire
