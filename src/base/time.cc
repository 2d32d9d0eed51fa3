#include "base/time.h"

#include <cmath>
#include <ctime>

namespace sabia {
namespace {

// strftime asks for the locale and for time zones: several times the cost, for every line of a
// listing and every header of an answer.
struct Calendar {
  explicit Calendar(WallTime t)
      : days(std::chrono::floor<std::chrono::days>(t)), date(days), clock(t - days) {}
  int year() const { return static_cast<int>(date.year()); }
  unsigned month() const { return static_cast<unsigned>(date.month()); }
  unsigned day() const { return static_cast<unsigned>(date.day()); }
  auto hours() const { return clock.hours().count(); }
  auto minutes() const { return clock.minutes().count(); }
  auto seconds() const { return clock.seconds().count(); }

  std::chrono::sys_days days;
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Millis> clock;
};

constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// -1 unless all of it are digits.
int Digits(std::string_view text) {
  int out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return out;
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
  const Calendar c(t);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", c.year(), c.month(), c.day(),
                     c.hours(), c.minutes(), c.seconds(), c.clock.subseconds().count());
}

std::string FormatIso8601Seconds(WallTime t) {
  const Calendar c(t);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", c.year(), c.month(), c.day(),
                     c.hours(), c.minutes(), c.seconds());
}

std::string FormatBasicIso8601(WallTime t) {
  const Calendar c(t);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", c.year(), c.month(), c.day(), c.hours(),
                     c.minutes(), c.seconds());
}

std::string FormatRfc1123(WallTime t) {
  const Calendar c(t);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays[std::chrono::weekday(c.days).c_encoding()], c.day(),
                     kMonths[c.month() - 1], c.year(), c.hours(), c.minutes(), c.seconds());
}

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
  const bool shaped = text.size() == 16 && text[8] == 'T' && text[15] == 'Z';
  const int year = shaped ? Digits(text.substr(0, 4)) : -1;
  const int month = shaped ? Digits(text.substr(4, 2)) : -1;
  const int day = shaped ? Digits(text.substr(6, 2)) : -1;
  const int hour = shaped ? Digits(text.substr(9, 2)) : -1;
  const int minute = shaped ? Digits(text.substr(11, 2)) : -1;
  const int second = shaped ? Digits(text.substr(13, 2)) : -1;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  // A leap second is one.
  if (year < 0 || month < 1 || day < 1 || !date.ok() || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59 || second < 0 || second > 60) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no time of the form 20240102T030405Z", text);
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + Seconds(second);
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
