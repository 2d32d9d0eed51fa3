#include "spot/replay.h"

#include <gtest/gtest.h>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::Dollars;
using testing::kHour;
using testing::kMinute;
using testing::Ticks;

// Does what it was told, tick by tick: w(ait), s(pot), o(n demand).
class Script final : public Policy {
 public:
  explicit Script(std::string_view orders) : orders_(orders) {}
  Placement Decide(const Situation& now) override {
    seen.push_back(now);
    const char order = orders_[std::min(next_++, orders_.size() - 1)];
    return order == 'w' ? Placement::kIdle : order == 's' ? Placement::kSpot : Placement::kOnDemand;
  }
  std::vector<Situation> seen;

 private:
  std::string_view orders_;
  std::size_t next_ = 0;
};

TEST(Replay, GreedyOnAMadeMarketCostsExactlyThis) {
  // 3 h of work, half an hour of changeover. Spot: 0.5 + 1.5 h; gone; 1 h waits; spot again: 0.5 +
  // 1.5 h, and the job ends within a tick.
  const JobTerms terms = testing::Terms(3 * kHour, 8 * kHour, kHour / 2, kHour);
  const Outcome out =
      Replay(terms, {.true_work = 3 * kHour}, Ticks("++-++---"), *MakeGreedy(terms));
  EXPECT_TRUE(out.finished);
  EXPECT_EQ(out.cost(), Dollars(4));
  EXPECT_EQ(out.on_demand_cost, Money());
  EXPECT_EQ(out.changeover_cost, Dollars(1));
  EXPECT_EQ(out.took, 5 * kHour);
  EXPECT_EQ(out.waiting_time, kHour);
  EXPECT_EQ(out.spot_time, 4 * kHour);
  EXPECT_EQ(out.changeover_time, kHour);
  EXPECT_EQ(out.reclaims, 1);
  EXPECT_EQ(out.starts, 2);
}

TEST(Replay, GreedyWithoutSpotFallsBackInTime) {
  const JobTerms terms = testing::Terms(3 * kHour, 6 * kHour, kHour / 2, kHour / 2);
  // Waits while 4 h or more are left: five looks, for at 4 h exactly it still does.
  const Outcome out =
      Replay(terms, {.true_work = 3 * kHour}, Ticks("------------"), *MakeGreedy(terms));
  EXPECT_TRUE(out.finished);
  EXPECT_EQ(out.waiting_time, 5 * (kHour / 2));
  EXPECT_EQ(out.on_demand_cost, Money::FromNanos(10'500'000'000));  // 3.5 h
  EXPECT_EQ(out.took, 6 * kHour);
}

TEST(Replay, ChangeoversSpanTicksAndAreLostWithTheInstance) {
  const JobTerms terms = testing::Terms(kHour, 8 * kHour, 90 * kMinute, kHour);
  Script script("sswssss");
  const Outcome out = Replay(terms, {.true_work = kHour}, Ticks("++-+++--"), script);
  // 1.5 h start, half an hour of work; reclaimed; 1.5 h start, half an hour of work.
  EXPECT_TRUE(out.finished);
  EXPECT_EQ(out.spot_time, 4 * kHour);
  EXPECT_EQ(out.changeover_time, 3 * kHour);
  EXPECT_EQ(script.seen[1].changeover_left, kHour / 2);
  EXPECT_EQ(script.seen[2].work_done, kHour / 2);
  EXPECT_EQ(script.seen[2].placement, Placement::kIdle);
  EXPECT_EQ(out.took, 5 * kHour);
}

TEST(Replay, AReclaimLosesTheWorkSinceTheLastCheckpoint) {
  const JobTerms terms = testing::Terms(4 * kHour, 9 * kHour, Millis(0), kHour);
  Script script("ssswo");
  const Work work{.true_work = 4 * kHour, .checkpoint_interval = 2 * kHour};
  const Outcome out = Replay(terms, work, Ticks("+++------"), script);
  EXPECT_EQ(out.lost_work, kHour);  // back from 3 h to 2 h
  EXPECT_EQ(out.lost_work_cost, Dollars(1));
  EXPECT_EQ(out.spot_cost, Dollars(3));
  EXPECT_EQ(out.on_demand_cost, Dollars(6));
}

TEST(Replay, LeavingOnPurposeLosesNothing) {
  const JobTerms terms = testing::Terms(4 * kHour, 9 * kHour, Millis(0), kHour);
  Script script("swso");
  const Work work{.true_work = 4 * kHour, .checkpoint_interval = 2 * kHour};
  const Outcome out = Replay(terms, work, Ticks("+++------"), script);
  EXPECT_EQ(script.seen[2].work_done, kHour);
  EXPECT_EQ(script.seen[3].work_done, 2 * kHour);
  EXPECT_EQ(out.lost_work, Millis(0));
  EXPECT_EQ(out.cost(), Dollars(2 + 6));
}

TEST(Replay, PricesOfTheTickAreCharged) {
  const JobTerms terms = testing::Terms(2 * kHour, 4 * kHour, Millis(0), kHour);
  std::vector<Tick> ticks = Ticks("++++");
  ticks[1].spot_per_hour = Dollars(2);
  Script script("s");
  EXPECT_EQ(Replay(terms, {.true_work = 2 * kHour}, ticks, script).spot_cost, Dollars(3));
}

TEST(Replay, ALateJobIsPaidToItsEnd) {
  const JobTerms terms = testing::Terms(2 * kHour, 3 * kHour, Millis(0), kHour);
  Script script("www");
  const Outcome out = Replay(terms, {.true_work = 2 * kHour}, Ticks("---"), script);
  EXPECT_FALSE(out.finished);
  EXPECT_EQ(out.took, 5 * kHour);
  EXPECT_EQ(out.on_demand_cost, Dollars(6));
}

TEST(Replay, AgesAreCountedFromTheSpellsBegin) {
  const JobTerms terms = testing::Terms(kHour, 4 * kHour, Millis(0), kHour);
  Script script("wwwo");
  Replay(terms, {.true_work = kHour, .spell_age = 7 * kHour}, Ticks("--++"), script);
  EXPECT_EQ(script.seen[0].spell_age, 7 * kHour);
  EXPECT_EQ(script.seen[1].spell_age, 8 * kHour);
  EXPECT_EQ(script.seen[2].spell_age, Millis(0));
  EXPECT_EQ(script.seen[3].spell_age, kHour);
}

}  // namespace
}  // namespace sabia::spot
