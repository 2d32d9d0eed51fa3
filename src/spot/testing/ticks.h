// Short ways to write markets and terms in tests: spot costs 1 dollar an hour, on demand 3.
#pragma once

#include <random>
#include <string_view>
#include <vector>

#include "spot/replay.h"

namespace sabia::spot::testing {

inline constexpr Millis kHour{3'600'000};
inline constexpr Millis kMinute{60'000};

inline constexpr Money Dollars(std::int64_t dollars) {
  return Money::FromNanos(dollars * 1'000'000'000);
}

// '+' for a tick with spot capacity, anything else for one without.
inline std::vector<Tick> Ticks(std::string_view marks) {
  std::vector<Tick> out;
  for (const char mark : marks) {
    out.push_back({.spot_available = mark == '+', .spot_per_hour = Dollars(1)});
  }
  return out;
}

inline JobTerms Terms(Millis work, Millis time, Millis changeover, Millis look) {
  return {.work = work,
          .time = time,
          .changeover = changeover,
          .look = look,
          .spot_per_hour = Dollars(1),
          .on_demand_per_hour = Dollars(3)};
}

// Spells of random lengths, one look to `most`.
inline std::vector<Tick> RandomTicks(std::mt19937_64& random, std::size_t count, int most) {
  std::vector<Tick> out;
  bool available = random() % 2 == 0;
  while (out.size() < count) {
    const std::size_t length = 1 + random() % static_cast<std::uint64_t>(most);
    for (std::size_t i = 0; i < length && out.size() < count; ++i) {
      out.push_back({.spot_available = available, .spot_per_hour = Dollars(1)});
    }
    available = !available;
  }
  return out;
}

}  // namespace sabia::spot::testing
