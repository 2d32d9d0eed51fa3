// US dollars as whole billionths: no binary fractions, no drift over sums.
//
// The largest sums here (100 instances of 100 USD an hour for 28 days) are 7 million USD; the range
// is 9 billion.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/time.h"

namespace sabia {

class Money {
 public:
  constexpr Money() = default;
  static constexpr Money FromNanos(std::int64_t nanos) { return Money(nanos); }

  constexpr std::int64_t nanos() const { return nanos_; }
  constexpr double dollars() const { return static_cast<double>(nanos_) / 1e9; }
  constexpr auto operator<=>(const Money&) const = default;
  constexpr Money operator+(Money other) const { return Money(nanos_ + other.nanos_); }
  constexpr Money operator-(Money other) const { return Money(nanos_ - other.nanos_); }
  constexpr Money operator*(std::int64_t factor) const { return Money(nanos_ * factor); }
  Money& operator+=(Money other) {
    nanos_ += other.nanos_;
    return *this;
  }

  // "0.001917": six decimals, as bills print small sums.
  std::string ToString() const { return fmt::format("{:.6f}", dollars()); }
  // "0.0115": every digit that there is, and no more.
  std::string ToExactString() const {
    constexpr std::int64_t kNanos = 1'000'000'000;
    const std::int64_t size = nanos_ < 0 ? -nanos_ : nanos_;
    std::string out =
        fmt::format("{}{}.{:09}", nanos_ < 0 ? "-" : "", size / kNanos, size % kNanos);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
    return out;
  }

 private:
  explicit constexpr Money(std::int64_t nanos) : nanos_(nanos) {}
  std::int64_t nanos_ = 0;
};

// What a duration costs at a price per hour, rounded to the nearest billionth. In 128 bits: a price
// of 100 USD times a month of milliseconds is beyond 64.
inline constexpr Money CostOf(Money per_hour, Millis duration) {
  constexpr std::int64_t kHourMillis = 3'600'000;
  const __int128 product = static_cast<__int128>(per_hour.nanos()) * duration.count();
  return Money::FromNanos(static_cast<std::int64_t>((product + kHourMillis / 2) / kHourMillis));
}

}  // namespace sabia
