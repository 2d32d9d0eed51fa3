// Prices for spot markets and simulations: those of the lists that are in force when it is asked,
// as `sabia cost` has them.
#pragma once

#include "cost/price_lists.h"
#include "env/clock.h"
#include "spot/simulation.h"

namespace sabia::cli {

// Both must outlive it.
spot::PriceLookup SpotPrices(const cost::PriceLists& prices, env::Clock& clock);

}  // namespace sabia::cli
