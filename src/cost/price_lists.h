// Price lists by date. A list counts from its date on (00:00 UTC) and replaces, price by price,
// what the lists before it say; a day before the first list has the first one's prices. So a new
// list changes what comes, and nothing that was.
//
// Immutable after loading; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cost/price_book.h"

namespace sabia::cost {

// When the compiled-in table was published.
inline constexpr std::string_view kBuiltInDate = "2026-09-22";

// A price, and where it is from.
struct Quote {
  Price price;
  std::string date;    // of the list
  std::string region;  // whose price it is; kFallbackRegion when no list knows the region asked for
};

class PriceLists {
 public:
  static PriceLists BuiltIn();

  // date: "2026-12-01". kInvalidArgument when it is no date, kAlreadyExists when there is such a
  // list.
  Status Add(std::string_view date, PriceBook book);

  // Nothing when no list has a price for the type.
  std::optional<Quote> Find(std::string_view region, std::string_view instance_type,
                            WallTime when) const;

 private:
  bool HasRegion(std::string_view region) const;

  std::map<std::string, PriceBook, std::less<>> lists_;  // by date, which orders them as text
};

}  // namespace sabia::cost
