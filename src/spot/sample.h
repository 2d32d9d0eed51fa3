// A stretch of a market in ticks, as replay.h and omniscient.h take it. Pure; any thread.
#pragma once

#include <vector>

#include "spot/market.h"
#include "spot/replay.h"

namespace sabia::spot {

struct Stretch {
  WallTime begin;
  Millis tick{0};
  std::size_t ticks = 0;
};

// Spot is available in a tick when all `instances` can be had at its first moment; the price is
// that of all of them.
std::vector<Tick> Sample(const Market& market, int instances, const Stretch& stretch);

}  // namespace sabia::spot
