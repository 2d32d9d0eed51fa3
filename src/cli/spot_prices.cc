#include "cli/spot_prices.h"

namespace sabia::cli {

spot::PriceLookup SpotPrices(const cost::PriceBook& book) {
  return [&book](const std::string& region,
                 const std::string& type) -> std::optional<spot::InstancePrices> {
    const cost::Price* price =
        book.Find(book.HasRegion(region) ? std::string_view(region) : cost::kFallbackRegion, type);
    if (price == nullptr) return std::nullopt;
    return spot::InstancePrices{price->on_demand_per_hour, price->SpotPerHour()};
  };
}

}  // namespace sabia::cli
