// Wall time and monotonic time are different types: one is shown to people and stored, the other
// measures waits.
//
// Reading a clock is env/clock.h; this header only names the types and converts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia {

using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

// UTC, milliseconds since 1970.
using WallTime = std::chrono::sys_time<Millis>;

// Nanoseconds since an arbitrary start; never goes back.
struct MonoClockTag {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<MonoClockTag>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonoClockTag::time_point;

inline std::int64_t ToUnixMillis(WallTime t) { return t.time_since_epoch().count(); }
inline WallTime FromUnixMillis(std::int64_t ms) { return WallTime(Millis(ms)); }
// Seconds with a fraction, as AWS JSON timestamps are written: 1529870369.986.
inline double ToUnixSeconds(WallTime t) { return static_cast<double>(ToUnixMillis(t)) / 1000.0; }
WallTime FromUnixSeconds(double seconds);

std::string FormatIso8601(WallTime t);         // 2024-01-02T03:04:05.678Z
std::string FormatIso8601Seconds(WallTime t);  // 2024-01-02T03:04:05Z
std::string FormatBasicIso8601(WallTime t);    // 20240102T030405Z, as SigV4 writes it
std::string FormatRfc1123(WallTime t);         // Tue, 02 Jan 2024 03:04:05 GMT
// Accepts the ISO-8601 forms above, with or without a fraction, with "Z" or "+hh:mm".
Result<WallTime> ParseIso8601(std::string_view text);
Result<WallTime> ParseBasicIso8601(std::string_view text);
// Accepts the preferred form of RFC 7231 only.
Result<WallTime> ParseRfc1123(std::string_view text);

}  // namespace sabia
