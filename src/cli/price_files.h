// Price lists that people keep below the home: <home>/prices/<date>.csv, in the form of
// data/prices.csv. Each counts from its date on, over the compiled-in one (cost/price_lists.h).
#pragma once

#include <memory>

#include "cost/price_lists.h"
#include "env/files.h"
#include "store/paths.h"

namespace sabia::cli {

// Errors name the file, and the line where there is one.
Result<std::shared_ptr<const cost::PriceLists>> ReadPriceLists(env::Files& files,
                                                               const store::Paths& paths);

}  // namespace sabia::cli
