// Prices as `sabia cost` has them: a region that the book does not know is us-east-1.
#pragma once

#include "cost/price_book.h"
#include "spot/simulation.h"

namespace sabia::cli {

// The book must outlive it.
spot::PriceLookup SpotPrices(const cost::PriceBook& book);

}  // namespace sabia::cli
