#include "spot/gang.h"

#include <gtest/gtest.h>

namespace sabia::spot {
namespace {

const WallTime kStart = FromUnixMillis(1'700'000'000'000);
WallTime At(int seconds) { return kStart + Seconds(seconds); }
constexpr Millis kNotice{120'000};

std::shared_ptr<const Market> WithOutages(std::vector<Outage> outages, std::int64_t nanos) {
  return *MakeScheduledMarket(std::move(outages), Money::FromNanos(nanos));
}

// Two types: the first goes from 1000 to 2000, the second from 1500 to 2500.
std::shared_ptr<const Market> Gang() {
  return MakeGangMarket(
      {{WithOutages({{At(1000), At(2000)}}, 5), 2}, {WithOutages({{At(1500), At(2500)}}, 7), 3}});
}

TEST(GangMarket, IsThereWhenAllOfItIs) {
  const auto gang = Gang();
  EXPECT_EQ(gang->At(At(0)).instances, 1);
  EXPECT_EQ(gang->At(At(0)).per_hour, Money::FromNanos(2 * 5 + 3 * 7));
  EXPECT_EQ(gang->NextChange(At(0)), At(1000));
  EXPECT_EQ(gang->At(At(1000)).instances, 0);
  EXPECT_EQ(gang->NextChange(At(1000)), At(2500));  // neither 1500 nor 2000 changes anything
  EXPECT_EQ(gang->At(At(2500)).instances, 1);
  EXPECT_EQ(gang->NextChange(At(2500)), std::nullopt);
}

TEST(GangMarket, CountsInstances) {
  const auto trace = ParseAvailability("f", R"({"metadata":{"gap_seconds":100},"data":[3,1,2]})");
  const std::shared_ptr<const Market> market =
      MakeRecordedMarket(*trace, kStart, AfterEnd::kHold, Money());
  EXPECT_EQ(MakeGangMarket({{market, 2}})->NextChange(At(0)), At(100));
  EXPECT_EQ(MakeGangMarket({{market, 2}})->NextChange(At(100)), At(200));
  EXPECT_EQ(MakeGangMarket({{market, 1}})->NextChange(At(0)), std::nullopt);
}

TEST(CanLaunch, NotOnCapacityThatWasGivenNotice) {
  const auto gang = Gang();
  EXPECT_TRUE(CanLaunch(*gang, At(879), kNotice));
  EXPECT_FALSE(CanLaunch(*gang, At(880), kNotice));
  EXPECT_FALSE(CanLaunch(*gang, At(1000), kNotice));
  EXPECT_TRUE(CanLaunch(*gang, At(2500), kNotice));
  EXPECT_EQ(NextLaunch(*gang, At(0), kNotice), At(0));
  EXPECT_EQ(NextLaunch(*gang, At(900), kNotice), At(2500));
}

TEST(NextLaunch, PassesOverSpellsThatAreTooShort) {
  const auto gang = MakeGangMarket(
      {{WithOutages({{At(0), At(100)}, {At(150), At(300)}, {At(400), At(900)}}, 1), 1}});
  EXPECT_EQ(NextLaunch(*gang, At(10), kNotice), At(900));
  EXPECT_EQ(NextLaunch(*gang, At(10), Millis(60'000)), At(300));
  const auto never = MakeGangMarket({{WithOutages({{At(0), At(100'000'000)}}, 1), 1}});
  EXPECT_EQ(NextLaunch(*never, At(10), kNotice), std::nullopt);
}

TEST(SpellAge, IsSeenFromLooksBack) {
  const auto gang = Gang();
  EXPECT_EQ(SpellAge(*gang, At(1003), Seconds(1000)), Seconds(2));
  EXPECT_EQ(SpellAge(*gang, At(2400), Seconds(10'000)), Seconds(1024));
  EXPECT_EQ(SpellAge(*gang, At(900), Seconds(100)), Seconds(64));
}

TEST(PastSpells, AreWhatWasSeenUntilNow) {
  const auto spells = PastSpells(*Gang(), {At(3000), Seconds(100), Seconds(2500)});
  ASSERT_EQ(spells.size(), 3u);
  EXPECT_TRUE(spells[0].available);
  EXPECT_FALSE(spells[0].begin_seen);
  EXPECT_EQ(spells[0].length, Seconds(500));
  EXPECT_FALSE(spells[1].available);
  EXPECT_EQ(spells[1].length, Seconds(1500));
  EXPECT_TRUE(spells[2].available);
  EXPECT_FALSE(spells[2].end_seen);
}

}  // namespace
}  // namespace sabia::spot
