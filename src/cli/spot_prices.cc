#include "cli/spot_prices.h"

namespace sabia::cli {

spot::PriceLookup SpotPrices(const cost::PriceLists& prices, env::Clock& clock) {
  return [&prices, &clock](const std::string& region,
                           const std::string& type) -> std::optional<spot::InstancePrices> {
    const auto quote = prices.Find(region, type, clock.Wall());
    if (!quote) return std::nullopt;
    return spot::InstancePrices{quote->price.on_demand_per_hour, quote->price.SpotPerHour()};
  };
}

}  // namespace sabia::cli
