// The spot markets of a simulated world: outages of each zone, drawn from its plan. After the busy
// part capacity is there for good. Pure; the same plan gives the same markets.
#pragma once

#include <memory>

#include "fleet/spot_markets.h"
#include "sim/world_plan.h"

namespace sabia::sim {

std::shared_ptr<const fleet::SpotMarkets> MarketsOf(const WorldPlan& plan, WallTime begin);

}  // namespace sabia::sim
