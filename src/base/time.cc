#include "base/time.h"

#include <array>
#include <cmath>
#include <ctime>

namespace sabia {
namespace {

std::tm ToTm(WallTime t) {
  const std::time_t seconds = std::chrono::floor<Seconds>(t).time_since_epoch().count();
  std::tm out{};
  gmtime_r(&seconds, &out);
  return out;
}

std::string Format(WallTime t, const char* format) {
  const std::tm tm = ToTm(t);
  std::array<char, 64> buffer{};
  const std::size_t n = std::strftime(buffer.data(), buffer.size(), format, &tm);
  return std::string(buffer.data(), n);
}

// Returns the text behind what the format consumed, or nullptr.
const char* Parse(const std::string& text, const char* format, WallTime* out) {
  std::tm tm{};
  const char* rest = strptime(text.c_str(), format, &tm);
  if (rest == nullptr) return nullptr;
  *out = WallTime(Seconds(timegm(&tm)));
  return rest;
}

// Reads ".678" (any number of digits) and moves past it.
Millis ParseFraction(const char** cursor) {
  if (**cursor != '.') return Millis(0);
  ++*cursor;
  std::int64_t value = 0;
  int digits = 0;
  for (; **cursor >= '0' && **cursor <= '9'; ++*cursor) {
    if (digits < 3) {
      value = value * 10 + (**cursor - '0');
      ++digits;
    }
  }
  for (; digits < 3; ++digits) value *= 10;
  return Millis(value);
}

}  // namespace

WallTime FromUnixSeconds(double seconds) {
  return WallTime(Millis(static_cast<std::int64_t>(std::llround(seconds * 1000.0))));
}

std::string FormatIso8601(WallTime t) {
  const auto fraction = t - std::chrono::floor<Seconds>(t);
  return Format(t, "%Y-%m-%dT%H:%M:%S") + fmt::format(".{:03}Z", fraction.count());
}

std::string FormatIso8601Seconds(WallTime t) { return Format(t, "%Y-%m-%dT%H:%M:%SZ"); }
std::string FormatBasicIso8601(WallTime t) { return Format(t, "%Y%m%dT%H%M%SZ"); }
std::string FormatRfc1123(WallTime t) { return Format(t, "%a, %d %b %Y %H:%M:%S GMT"); }

Result<WallTime> ParseIso8601(std::string_view text) {
  const std::string copy(text);
  WallTime out;
  const char* rest = Parse(copy, "%Y-%m-%dT%H:%M:%S", &out);
  if (rest == nullptr) return Fail(ErrorCode::kInvalidArgument, "'{}' is no ISO 8601 time", text);
  out += ParseFraction(&rest);
  const std::string_view zone(rest);
  if (zone == "Z") return out;
  int hours = 0;
  int minutes = 0;
  if ((zone.size() == 6) && (zone[0] == '+' || zone[0] == '-') &&
      std::sscanf(rest + 1, "%2d:%2d", &hours, &minutes) == 2) {
    const auto offset = std::chrono::minutes(hours * 60 + minutes);
    return zone[0] == '+' ? out - offset : out + offset;
  }
  return Fail(ErrorCode::kInvalidArgument, "'{}' has no time zone (expected Z or +hh:mm)", text);
}

Result<WallTime> ParseBasicIso8601(std::string_view text) {
  const std::string copy(text);
  WallTime out;
  const char* rest = Parse(copy, "%Y%m%dT%H%M%SZ", &out);
  if (rest == nullptr || *rest != '\0' || copy.size() != 16) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no time of the form 20240102T030405Z", text);
  }
  return out;
}

Result<WallTime> ParseRfc1123(std::string_view text) {
  const std::string copy(text);
  WallTime out;
  const char* rest = Parse(copy, "%a, %d %b %Y %H:%M:%S GMT", &out);
  if (rest == nullptr || *rest != '\0') {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no HTTP date", text);
  }
  return out;
}

}  // namespace sabia
