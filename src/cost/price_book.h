// What an instance-hour costs, by region and type. Facts with their sources are in data/prices.csv.
//
// Immutable after loading; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/money.h"
#include "base/result.h"

namespace sabia::cost {

struct Price {
  Money on_demand_per_hour;
  std::string basis;                       // "listed" by AWS, or "derived" from EC2's price
  std::optional<int> spot_saving_percent;  // nothing: no spot price is known
  // The rate of spot capacity; on demand when no spot price is known.
  Money SpotPerHour() const;
};

// Where the price of a region that the book does not have is taken from.
inline constexpr std::string_view kFallbackRegion = "us-east-1";

class PriceBook {
 public:
  // The compiled-in table.
  static PriceBook BuiltIn();
  // Lines of region,instance_type,usd_per_hour,basis,spot_saving_percent below a header. kCorrupt
  // names the line.
  static Result<PriceBook> Parse(std::string_view csv);

  // Null when the region has no price for the type.
  const Price* Find(std::string_view region, std::string_view instance_type) const;
  bool HasRegion(std::string_view region) const { return prices_.contains(region); }

 private:
  using ByType = std::map<std::string, Price, std::less<>>;
  std::map<std::string, ByType, std::less<>> prices_;
};

}  // namespace sabia::cost
