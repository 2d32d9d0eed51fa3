#include "spot/market.h"

#include <gtest/gtest.h>

#include "spot/noise.h"
#include "spot/sample.h"
#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::Dollars;
using testing::kHour;
using testing::kMinute;

WallTime At(std::int64_t hours) { return WallTime{} + hours * kHour; }

std::unique_ptr<Market> Poisson(std::uint64_t seed, Millis up = 5 * kHour, Millis down = kHour) {
  auto market = MakePoissonMarket(
      {.between_interruptions = up, .until_return = down, .seed = seed, .per_hour = Dollars(1)});
  EXPECT_TRUE(market.has_value());
  return std::move(*market);
}

TEST(SteadyMarket, NeverChanges) {
  const auto market = MakeSteadyMarket(Dollars(2));
  EXPECT_EQ(market->At(At(7)).per_hour, Dollars(2));
  EXPECT_GE(market->At(At(7)).instances, 1000);
  EXPECT_FALSE(market->NextChange(At(7)).has_value());
  EXPECT_FALSE(NextEvent(*market, {.since = At(0)}, At(5)).has_value());
}

TEST(PoissonMarket, ChangesAreWhereItSays) {
  const auto market = Poisson(3);
  WallTime time = At(1000);
  for (int i = 0; i < 200; ++i) {
    const auto next = market->NextChange(time);
    ASSERT_TRUE(next.has_value());
    ASSERT_GT(*next, time);
    EXPECT_NE(market->At(*next).instances, market->At(time).instances);
    EXPECT_EQ(market->At(*next - Millis(1)).instances, market->At(time).instances);
    EXPECT_EQ(market->NextChange(*next - Millis(1)), next);
    time = *next;
  }
}

TEST(PoissonMarket, SpellsHaveTheirMeans) {
  const auto market = Poisson(4);
  Millis up{0}, down{0};
  int spells = 0;
  WallTime time = *market->NextChange(At(0));
  for (; spells < 4000; ++spells) {
    const WallTime next = *market->NextChange(time);
    (market->At(time).instances > 0 ? up : down) += next - time;
    time = next;
  }
  const double hours_up = static_cast<double>(up.count()) / 3.6e6 / (spells / 2);
  const double hours_down = static_cast<double>(down.count()) / 3.6e6 / (spells / 2);
  EXPECT_NEAR(hours_up, 5, 0.4);
  EXPECT_NEAR(hours_down, 1, 0.08);
}

TEST(PoissonMarket, SeedsAndZonesAreIndependentAndRepeatable) {
  const auto share = [](const Market& a, const Market& b) {
    int equal = 0;
    for (int i = 0; i < 2000; ++i) equal += a.At(At(i)) == b.At(At(i)) ? 1 : 0;
    return equal / 2000.0;
  };
  const auto of_zone = [](std::string_view zone) {
    return Poisson(MarketSeed(1, "ml.p3.2xlarge", zone), kHour, kHour);
  };
  EXPECT_EQ(share(*of_zone("a"), *of_zone("a")), 1);
  EXPECT_NEAR(share(*of_zone("a"), *of_zone("b")), 0.5, 0.06);
  EXPECT_NE(MarketSeed(1, "ab", "c"), MarketSeed(1, "a", "bc"));
}

TEST(PoissonMarket, AsksForSensibleMeans) {
  EXPECT_FALSE(MakePoissonMarket({.between_interruptions = Millis(999), .until_return = kHour}));
  EXPECT_FALSE(MakePoissonMarket({.between_interruptions = kHour, .until_return = Millis(0)}));
  const auto lopsided =
      MakePoissonMarket({.between_interruptions = 27 * kHour, .until_return = Millis(1000)});
  EXPECT_FALSE(
      MakePoissonMarket({.between_interruptions = 28 * kHour, .until_return = Millis(1000)}));
  EXPECT_TRUE(lopsided.has_value());
  EXPECT_TRUE((*lopsided)->NextChange(At(0)).has_value());
}

CapacityTrace Recorded() {
  return {.steps = {{Millis(0), 4}, {kHour, 0}, {3 * kHour, 2}}, .length = 5 * kHour, .gap = kHour};
}

TEST(RecordedMarket, RepeatsBothWays) {
  const auto market = MakeRecordedMarket(Recorded(), At(100), AfterEnd::kRepeat, Dollars(1));
  EXPECT_EQ(market->At(At(100)).instances, 4);
  EXPECT_EQ(market->At(At(101)).instances, 0);
  EXPECT_EQ(market->At(At(104)).instances, 2);
  EXPECT_EQ(market->At(At(105)).instances, 4);
  EXPECT_EQ(market->At(At(99)).instances, 2);
  EXPECT_EQ(market->At(At(96)).instances, 0);
  EXPECT_EQ(market->NextChange(At(104)), At(105));
  EXPECT_EQ(market->NextChange(At(96)), At(98));
}

TEST(RecordedMarket, HoldsItsEnds) {
  const auto market = MakeRecordedMarket(Recorded(), At(100), AfterEnd::kHold, Dollars(1));
  EXPECT_EQ(market->At(At(0)).instances, 4);
  EXPECT_EQ(market->NextChange(At(0)), At(101));
  EXPECT_EQ(market->At(At(1000)).instances, 2);
  EXPECT_FALSE(market->NextChange(At(103)).has_value());
}

TEST(PriceMarket, CapacityEndsAboveTheMaximum) {
  const std::vector<PriceStep> prices = {
      {At(0), Dollars(1)}, {At(1), Dollars(5)}, {At(2), Dollars(2)}, {At(4), Dollars(1)}};
  const auto market = MakePriceMarket(prices, Dollars(2), At(10), AfterEnd::kHold);
  EXPECT_GT(market->At(At(10)).instances, 0);
  EXPECT_EQ(market->At(At(11)).instances, 0);
  EXPECT_GT(market->At(At(12)).instances, 0) << "the maximum itself is paid";
  EXPECT_EQ(market->At(At(12)).per_hour, Dollars(2));
  EXPECT_EQ(market->NextChange(At(12)), At(14)) << "a price changes too";
  const auto again = MakePriceMarket(prices, Dollars(2), std::nullopt, AfterEnd::kRepeat);
  EXPECT_EQ(again->At(At(5)).instances, 0);
  EXPECT_EQ(again->At(At(4)).per_hour, Dollars(1));
}

TEST(ScheduledMarket, IsDownDuringItsOutages) {
  const auto market =
      MakeScheduledMarket({{At(7), At(8)}, {At(3), At(5)}, {At(5), At(6)}}, Dollars(1));
  ASSERT_TRUE(market.has_value()) << market.error().message;
  EXPECT_GT((*market)->At(At(2)).instances, 0);
  EXPECT_EQ((*market)->NextChange(At(0)), At(3));
  EXPECT_EQ((*market)->At(At(5)).instances, 0);
  EXPECT_EQ((*market)->NextChange(At(3)), At(6));
  EXPECT_EQ((*market)->NextChange(At(6)), At(7));
  EXPECT_FALSE((*market)->NextChange(At(8)).has_value());
  EXPECT_FALSE(MakeScheduledMarket({{At(3), At(3)}}, Dollars(1)));
  EXPECT_FALSE(MakeScheduledMarket({{At(3), At(5)}, {At(4), At(6)}}, Dollars(1)));
}

TEST(NextEvent, NoticeTwoMinutesBeforeTheReclaim) {
  const auto market = MakeScheduledMarket({{At(3), At(5)}}, Dollars(1));
  const Lease lease{.since = At(1)};
  auto event = NextEvent(**market, lease, At(1));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, EventKind::kNotice);
  EXPECT_EQ(event->at, At(3) - 2 * kMinute);
  EXPECT_EQ(event->reclaim_at, At(3));
  event = NextEvent(**market, lease, event->at);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, EventKind::kReclaim);
  EXPECT_EQ(event->at, At(3));
  EXPECT_FALSE(NextEvent(**market, lease, event->at).has_value());
}

TEST(NextEvent, ARecommendationComesFirstIfAskedFor) {
  const auto market = MakeScheduledMarket({{At(3), At(5)}}, Dollars(1));
  const EventOptions options{.rebalance_lead = 10 * kMinute};
  const auto event = NextEvent(**market, {.since = At(1)}, At(1), options);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, EventKind::kRebalance);
  EXPECT_EQ(event->at, At(3) - 10 * kMinute);
}

TEST(NextEvent, AYoungInstanceLearnsOfItsEndAtOnce) {
  const auto market = MakeScheduledMarket({{At(3), At(5)}}, Dollars(1));
  const WallTime since = At(3) - kMinute;
  const auto event = NextEvent(**market, {.since = since}, since - Millis(1));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, EventKind::kNotice);
  EXPECT_EQ(event->at, since);
}

TEST(NextEvent, AGangGoesWhenNotAllOfItCanBeHad) {
  const auto market = MakeRecordedMarket(
      {.steps = {{Millis(0), 4}, {kHour, 3}, {2 * kHour, 0}}, .length = 5 * kHour}, At(0),
      AfterEnd::kHold, Dollars(1));
  EXPECT_EQ(NextEvent(*market, {.since = At(0), .instances = 4}, At(0))->reclaim_at, At(1));
  EXPECT_EQ(NextEvent(*market, {.since = At(0), .instances = 3}, At(0))->reclaim_at, At(2));
}

TEST(NextCapacity, IsNowOrAtAChange) {
  const auto market = MakeRecordedMarket(Recorded(), At(0), AfterEnd::kHold, Dollars(1));
  EXPECT_EQ(NextCapacity(*market, 1, At(0)), At(0));
  EXPECT_EQ(NextCapacity(*market, 1, At(1)), At(3));
  EXPECT_FALSE(NextCapacity(*market, 3, At(1)).has_value());
}

TEST(Sample, TakesTheStateAtEachTick) {
  const auto market = MakeRecordedMarket(Recorded(), At(0), AfterEnd::kRepeat, Dollars(1));
  const auto ticks = Sample(*market, 2, {.begin = At(0), .tick = kHour / 2, .ticks = 14});
  std::string seen;
  for (const Tick& tick : ticks) seen += tick.spot_available ? '+' : '-';
  EXPECT_EQ(seen, "++----++++++--");
  EXPECT_EQ(ticks[0].spot_per_hour, Dollars(2));
}

TEST(Noise, IsUniformAndDependsOnEverything) {
  const Noise noise(1);
  double sum = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) sum += noise.Uniform(5, i);
  EXPECT_NEAR(sum / 20'000, 0.5, 0.01);
  EXPECT_NE(noise.Uniform(5, 1), noise.Uniform(6, 1));
  EXPECT_NE(noise.Uniform(5, 1), Noise(2).Uniform(5, 1));
}

}  // namespace
}  // namespace sabia::spot
