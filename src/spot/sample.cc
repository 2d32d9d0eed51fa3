#include "spot/sample.h"

namespace sabia::spot {

std::vector<Tick> Sample(const Market& market, int instances, const Stretch& stretch) {
  std::vector<Tick> out;
  out.reserve(stretch.ticks);
  std::optional<WallTime> holds_until = stretch.begin;  // nothing: for ever
  Tick tick;
  for (std::size_t i = 0; i < stretch.ticks; ++i) {
    const WallTime now = stretch.begin + stretch.tick * static_cast<std::int64_t>(i);
    if (holds_until && now >= *holds_until) {
      const MarketState state = market.At(now);
      tick = {.spot_available = state.instances >= instances,
              .spot_per_hour = state.per_hour * instances};
      holds_until = market.NextChange(now);
    }
    out.push_back(tick);
  }
  return out;
}

}  // namespace sabia::spot
