// A market as a person writes it down: one JSON object of docs/semantics/simulate.md.
//
//   {"kind": "none" | "poisson" | "trace" | "prices" | "schedule" | "command", ...}
//
// Pure: files are read by the caller. Errors are kInvalidArgument and name the member, or the file
// and its line.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "spot/fields.h"
#include "spot/market.h"

namespace sabia::spot {

// The bytes of a file that a document names.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

struct MarketContext {
  std::uint64_t seed = 0;  // of MarketSeed()
  Money spot_per_hour;     // where the market itself has no price
  WallTime begin;          // when recordings begin that do not say so themselves
};

// Asks `fields` for every member that the kind of market has; the caller finishes them.
Result<std::unique_ptr<Market>> ReadMarket(Fields& fields, const MarketContext& context,
                                           const ReadFile& read);

}  // namespace sabia::spot
