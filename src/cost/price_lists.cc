#include "cost/price_lists.h"

#include <algorithm>
#include <iterator>

namespace sabia::cost {
namespace {

std::string DateOf(WallTime when) { return FormatIso8601Seconds(when).substr(0, 10); }

}  // namespace

PriceLists PriceLists::BuiltIn() {
  PriceLists out;
  out.lists_.emplace(kBuiltInDate, PriceBook::BuiltIn());
  return out;
}

Status PriceLists::Add(std::string_view date, PriceBook book) {
  const auto parsed = ParseIso8601(fmt::format("{}T00:00:00Z", date));
  if (!parsed || DateOf(*parsed) != date) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no date such as 2026-12-01", date);
  }
  if (!lists_.emplace(date, std::move(book)).second) {
    return Fail(ErrorCode::kAlreadyExists, "there are two price lists of {}", date);
  }
  return {};
}

bool PriceLists::HasRegion(std::string_view region) const {
  return std::any_of(lists_.begin(), lists_.end(),
                     [&](const auto& list) { return list.second.HasRegion(region); });
}

std::optional<Quote> PriceLists::Find(std::string_view region, std::string_view instance_type,
                                      WallTime when) const {
  const std::string priced(HasRegion(region) ? region : kFallbackRegion);
  const auto quote = [&](const auto& list) -> std::optional<Quote> {
    const Price* price = list.second.Find(priced, instance_type);
    if (price == nullptr) return std::nullopt;
    return Quote{*price, list.first, priced};
  };
  const auto later = lists_.upper_bound(DateOf(when));
  for (auto list = later; list != lists_.begin();) {
    if (auto found = quote(*--list)) return found;
  }
  for (auto list = later; list != lists_.end(); ++list) {
    if (auto found = quote(*list)) return found;
  }
  return std::nullopt;
}

}  // namespace sabia::cost
