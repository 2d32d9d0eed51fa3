#include "cost/price_book.h"

#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/csv.h"

namespace sabia::cost {

extern const std::string_view kPricesCsv;  // data/prices.csv

namespace {

constexpr int kNanoDigits = 9;

bool ReadWhole(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

// "0.1152" to billionths, digit by digit: a detour through a double could be off by one.
Result<Money> ReadMoney(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  std::string fraction(dot == text.size() ? std::string_view() : text.substr(dot + 1));
  if (fraction.size() <= kNanoDigits) {
    fraction.resize(kNanoDigits, '0');
    std::int64_t nanos = 0;
    if (!digits.empty() && ReadWhole(digits + fraction, nanos)) return Money::FromNanos(nanos);
  }
  return Fail(ErrorCode::kCorrupt, "'{}' is no price", text);
}

Result<Price> ReadPrice(const std::vector<std::string_view>& fields) {
  Price price;
  ASSIGN_OR_RETURN(price.on_demand_per_hour, ReadMoney(fields[2]));
  price.basis = fields[3];
  if (!fields[4].empty()) {
    std::int64_t percent = 0;
    if (!ReadWhole(fields[4], percent) || percent > 100) {
      return Fail(ErrorCode::kCorrupt, "'{}' is no percentage", fields[4]);
    }
    price.spot_saving_percent = static_cast<int>(percent);
  }
  return price;
}

}  // namespace

Money Price::SpotPerHour() const {
  const std::int64_t left = 100 - spot_saving_percent.value_or(0);
  return Money::FromNanos((on_demand_per_hour.nanos() * left + 50) / 100);
}

PriceBook PriceBook::BuiltIn() {
  Result<PriceBook> parsed = Parse(kPricesCsv);
  CHECK_MSG(parsed.has_value(), parsed.error().message);
  return std::move(*parsed);
}

Result<PriceBook> PriceBook::Parse(std::string_view csv) {
  PriceBook book;
  RETURN_IF_ERROR(ReadCsv(csv, "region,instance_type,usd_per_hour,basis,spot_saving_percent",
                          [&](const std::vector<std::string_view>& fields) -> Status {
                            ASSIGN_OR_RETURN(Price price, ReadPrice(fields));
                            ByType& types = book.prices_[std::string(fields[0])];
                            if (types.emplace(std::string(fields[1]), std::move(price)).second)
                              return {};
                            return Fail(ErrorCode::kCorrupt, "'{}' is priced twice in {}",
                                        fields[1], fields[0]);
                          }));
  return book;
}

const Price* PriceBook::Find(std::string_view region, std::string_view instance_type) const {
  const auto types = prices_.find(region);
  if (types == prices_.end()) return nullptr;
  const auto price = types->second.find(instance_type);
  return price == types->second.end() ? nullptr : &price->second;
}

}  // namespace sabia::cost
