#include "spot/omniscient.h"

#include <gtest/gtest.h>

#include "spot/planner.h"
#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::Dollars;
using testing::kHour;
using testing::kMinute;
using testing::Ticks;

// The same orders for every tick of a search over all of them.
class Orders final : public Policy {
 public:
  explicit Orders(const std::vector<int>& orders) : orders_(orders) {}
  Placement Decide(const Situation& now) override {
    const int order = orders_[next_++];
    if (order == 1 && !now.spot_available) return Placement::kIdle;
    return static_cast<Placement>(order);
  }

 private:
  const std::vector<int>& orders_;
  std::size_t next_ = 0;
};

Money BruteForce(const JobTerms& terms, const std::vector<Tick>& ticks) {
  std::vector<int> orders(ticks.size(), 0);
  Money best = Money::FromNanos(std::numeric_limits<std::int64_t>::max());
  while (true) {
    Orders policy(orders);
    const Outcome out = Replay(terms, {.true_work = terms.work}, ticks, policy);
    if (out.finished) best = std::min(best, out.cost());
    std::size_t i = 0;
    while (i < orders.size() && orders[i] == 2) orders[i++] = 0;
    if (i == orders.size()) return best;
    ++orders[i];
  }
}

TEST(Omniscient, WaitsForTheSpotThatComes) {
  const JobTerms terms = testing::Terms(2 * kHour, 6 * kHour, kHour, kHour);
  const auto bound = Omniscient(terms, terms.work, Ticks("---+++"));
  ASSERT_TRUE(bound.has_value());
  EXPECT_TRUE(bound->exact);
  EXPECT_EQ(bound->cost, Dollars(3));
}

TEST(Omniscient, LeavesSpotThatDoesNotPayForItsChangeover) {
  const JobTerms terms = testing::Terms(2 * kHour, 6 * kHour, kHour, kHour);
  EXPECT_EQ(Omniscient(terms, terms.work, Ticks("-+----"))->cost, Dollars(9));
}

TEST(Omniscient, EqualsTheBestOfAllOrders) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const Millis look = kHour;
    const Millis changeover = (kHour / 2) * static_cast<std::int64_t>(random() % 5);
    const Millis work = (kHour / 2) * static_cast<std::int64_t>(2 + random() % 6);
    const JobTerms terms = testing::Terms(work, 8 * kHour, changeover, look);
    const std::vector<Tick> ticks = testing::RandomTicks(random, 8, 3);
    const auto bound = Omniscient(terms, work, ticks);
    ASSERT_TRUE(bound.has_value());
    EXPECT_TRUE(bound->exact);
    EXPECT_EQ(bound->cost, BruteForce(terms, ticks)) << "round " << round;
  }
}

TEST(Omniscient, ADeadlineWithinATickIsExactToo) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 30; ++round) {
    const JobTerms terms = testing::Terms(3 * kHour, 6 * kHour + 30 * kMinute, kHour / 2, kHour);
    const std::vector<Tick> ticks = testing::RandomTicks(random, 7, 2);
    EXPECT_EQ(Omniscient(terms, terms.work, ticks)->cost, BruteForce(terms, ticks));
  }
}

TEST(Omniscient, IsNoDearerThanAnyPolicy) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 40; ++round) {
    const Millis work = kHour * static_cast<std::int64_t>(5 + random() % 20);
    const Millis time = work + kHour * static_cast<std::int64_t>(1 + random() % 12);
    const JobTerms terms = testing::Terms(work, time, 12 * kMinute, 10 * kMinute);
    const auto count = static_cast<std::size_t>(time / terms.look);
    const std::vector<Tick> ticks = testing::RandomTicks(random, count, 40);
    const auto bound = Omniscient(terms, work, ticks);
    ASSERT_TRUE(bound.has_value());
    std::vector<std::unique_ptr<Policy>> policies;
    policies.push_back(MakeOnDemandOnly());
    policies.push_back(MakeGreedy(terms));
    policies.push_back(MakeUniformProgress(terms, Foresight::kNone));
    policies.push_back(MakeUniformProgress(terms, Foresight::kNextSpotLifetime));
    policies.push_back(std::make_unique<Planner>(terms, std::vector<Spell>()));
    for (const auto& policy : policies) {
      const Outcome out = Replay(terms, {.true_work = work}, ticks, *policy);
      EXPECT_TRUE(out.finished);
      EXPECT_LE(bound->cost, out.cost());
    }
  }
}

TEST(Omniscient, TooFineAGridGivesALowerBound) {
  // Milliseconds have no common divisor here: 80 h at 1 ms would be 10^13 states.
  JobTerms terms =
      testing::Terms(Millis(48 * 3'600'000 + 1), 80 * kHour, 12 * kMinute, 10 * kMinute);
  std::mt19937_64 random(14);
  const std::vector<Tick> ticks = testing::RandomTicks(random, 480, 30);
  const auto bound = Omniscient(terms, terms.work, ticks);
  ASSERT_TRUE(bound.has_value());
  EXPECT_FALSE(bound->exact);
  terms.work = 48 * kHour;
  const auto exact = Omniscient(terms, terms.work, ticks);
  EXPECT_TRUE(exact->exact);
  EXPECT_LE(bound->cost, exact->cost + Money::FromNanos(1'000'000));
  EXPECT_GT(bound->cost.dollars(), 0.9 * exact->cost.dollars());
}

TEST(Omniscient, RefusesWhatCannotBe) {
  const JobTerms terms = testing::Terms(2 * kHour, 2 * kHour, kHour, kHour);
  EXPECT_EQ(Omniscient(terms, terms.work, Ticks("++")).error().code, ErrorCode::kInvalidArgument);
  const JobTerms longer = testing::Terms(2 * kHour, 5 * kHour, kHour, kHour);
  EXPECT_EQ(Omniscient(longer, longer.work, Ticks("++")).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sabia::spot
