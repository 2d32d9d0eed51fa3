#include "sim/market_world.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "spot/noise.h"

namespace sabia::sim {
namespace {

constexpr std::uint64_t kOutagesMax = 2'000;  // of a zone
constexpr std::int64_t kSpotNanos = 40'000'000;
constexpr std::int64_t kOnDemandNanos = 115'000'000;

json::array OutagesOf(const WorldPlan& plan, WallTime begin, std::uint64_t zone) {
  const spot::Noise noise(plan.seed);
  json::array out;
  WallTime at = begin;
  for (std::uint64_t i = 0; i < 2 * kOutagesMax; i += 2) {
    const auto draw = [&](std::uint64_t index, Millis mean) {
      return Millis(
          std::llround(noise.Exponential(zone, index, static_cast<double>(mean.count()))));
    };
    at += draw(i, plan.market_up_mean) + Millis(1);
    if (at >= begin + plan.length) break;
    const WallTime until = at + draw(i + 1, plan.market_down_mean) + Millis(1);
    out.push_back(json::object{{"from", FormatIso8601(at)}, {"until", FormatIso8601(until)}});
    at = until;
  }
  return out;
}

}  // namespace

std::shared_ptr<const fleet::SpotMarkets> MarketsOf(const WorldPlan& plan, WallTime begin) {
  json::array zones, markets;
  for (int i = 0; i < plan.market_zones; ++i) {
    const std::string zone = fmt::format("zone-{}", i + 1);
    zones.emplace_back(zone);
    if (plan.market_up_mean == Millis(0)) continue;
    markets.push_back(
        json::object{{"kind", "schedule"},
                     {"zone", zone},
                     {"outages", OutagesOf(plan, begin, static_cast<std::uint64_t>(i))}});
  }
  const json::object document{{"zones", std::move(zones)}, {"markets", std::move(markets)}};
  auto made = fleet::SpotMarkets::FromDocument(
      json::serialize(document), {.region = "us-west-2",
                                  .prices =
                                      [](const std::string&, const std::string&) {
                                        return spot::InstancePrices{
                                            Money::FromNanos(kOnDemandNanos),
                                            Money::FromNanos(kSpotNanos)};
                                      },
                                  .read = [](const std::string& name) -> Result<std::string> {
                                    return Fail(ErrorCode::kNotFound, "no file '{}'", name);
                                  }});
  CHECK_MSG(made.has_value(), made.error().message);
  return std::move(*made);
}

}  // namespace sabia::sim
