#include "spot/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kHour;
using testing::kMinute;

constexpr double kMissed = 1e7;

// The same expectation by plain recursion over everything that can happen: steps and looks of an
// hour, changeovers of whole hours, spells of known age.
class Recursion {
 public:
  Recursion(const Hazards& hazards, int changeover) : hazards_(hazards), changeover_(changeover) {}

  struct State {
    int left = 0, work = 0;
    Placement placement = Placement::kIdle;
    int rest = 0;
    bool available = false;
    int age = 0;
  };

  double Value(const State& s) const {
    if (s.work <= 0) return 0;
    if (s.left <= 0) return kMissed;
    return std::min(
        {Of(s, Placement::kIdle), Of(s, Placement::kSpot), Of(s, Placement::kOnDemand)});
  }

  double Of(const State& s, Placement placement) const {
    if (placement == Placement::kSpot && !s.available) return kMissed;
    State next = s;
    next.left -= 1;
    next.placement = placement;
    double cost = 0;
    if (placement == Placement::kIdle) {
      next.rest = 0;
    } else {
      cost = placement == Placement::kSpot ? 1 : 3;
      const int rest = placement == s.placement ? s.rest : changeover_;
      next.rest = std::max(rest - 1, 0);
      if (rest == 0) next.work -= 1;
    }
    const double ends = hazards_.Ends(s.available, hazards_.ages.ClassOf(s.age * kHour));
    State same = next;
    same.age += 1;
    State flipped = next;
    flipped.available = !s.available;
    flipped.age = 0;
    if (flipped.placement == Placement::kSpot) flipped = Reclaimed(flipped);
    return cost + (1 - ends) * Value(same) + ends * Value(flipped);
  }

 private:
  static State Reclaimed(State s) {
    s.placement = Placement::kIdle;
    s.rest = 0;
    return s;
  }
  Hazards hazards_;
  int changeover_;
};

Hazards SomeHazards() {
  Hazards hazards{.ages = Ages(kHour)};
  for (std::size_t i = 0; i < kAgeClasses; ++i) {
    hazards.ends_available[i] = 0.4 / static_cast<double>(i + 1);
    hazards.ends_unavailable[i] = 0.6 / static_cast<double>(i + 1);
  }
  return hazards;
}

void ExpectAlike(double plan, double recursion, const std::string& where) {
  // A chance to be late costs so much that it is told from certainty by its size only.
  if (recursion > 1e4) {
    EXPECT_GT(plan, 1e4) << where;
  } else {
    EXPECT_NEAR(plan, recursion, 1e-3) << where;
  }
}

TEST(Plan, EqualsTheRecursionOverAllThatCanHappen) {
  for (const int changeover : {1, 2}) {
    const Hazards hazards = SomeHazards();
    const Recursion recursion(hazards, changeover);
    const JobTerms terms = testing::Terms(4 * kHour, 9 * kHour, changeover * kHour, kHour);
    const Plan plan(terms, hazards, 4 * kHour, 9 * kHour);
    ASSERT_EQ(plan.step(), kHour);
    for (int left = 3; left <= 7; ++left) {
      for (int work = 1; work <= std::min(4, left); ++work) {
        for (const bool available : {false, true}) {
          for (const Placement placement :
               {Placement::kIdle, Placement::kSpot, Placement::kOnDemand}) {
            if (placement == Placement::kSpot && !available) continue;
            const Recursion::State state{
                .left = left, .work = work, .placement = placement, .available = available};
            const Situation now{
                .time_left = left * kHour, .placement = placement, .spot_available = available};
            const ExpectedHours hours = plan.Evaluate(now, work * kHour);
            const std::string where =
                fmt::format("changeover {} left {} work {} available {} {}", changeover, left, work,
                            available, Name(placement));
            ExpectAlike(hours.wait, recursion.Of(state, Placement::kIdle), where + ": wait");
            ExpectAlike(hours.on_demand, recursion.Of(state, Placement::kOnDemand),
                        where + ": on demand");
            if (available) {
              ExpectAlike(hours.spot, recursion.Of(state, Placement::kSpot), where + ": spot");
            }
          }
        }
      }
    }
  }
}

TEST(Plan, WithSpotThatNeverEndsTheCostIsSpots) {
  Hazards hazards{.ages = Ages(10 * kMinute)};
  hazards.ends_available.fill(1e-9);
  hazards.ends_unavailable.fill(1e-9);
  const JobTerms terms = testing::Terms(10 * kHour, 15 * kHour, 20 * kMinute, 10 * kMinute);
  const Plan plan(terms, hazards, terms.work, terms.time);
  const ExpectedHours up =
      plan.Evaluate({.time_left = terms.time, .spot_available = true}, terms.work);
  EXPECT_NEAR(up.spot, 10 + 1.0 / 3, 0.01);
  EXPECT_NEAR(up.on_demand - up.spot, 0.5, 0.01) << "a step on demand for nothing";
  const ExpectedHours down = plan.Evaluate({.time_left = terms.time}, terms.work);
  EXPECT_NEAR(down.on_demand, 31, 0.01);
  EXPECT_GE(down.spot, kMissed) << "no capacity";
}

TEST(Plan, TheEndWithinAStepIsPaidInPart) {
  const JobTerms terms = testing::Terms(kHour, 4 * kHour, Millis(0), kHour);
  const Plan plan(terms, SomeHazards(), kHour, 4 * kHour);
  const ExpectedHours hours =
      plan.Evaluate({.time_left = 2 * kHour, .placement = Placement::kSpot, .spot_available = true},
                    15 * kMinute);
  EXPECT_NEAR(hours.spot, 0.25, 1e-6);
}

TEST(Plan, MemoryIsBoundedWhateverTheJob) {
  const JobTerms terms = testing::Terms(1000 * kHour, 2000 * kHour, kMinute, kMinute);
  const Plan plan(terms, Learn({}, kMinute), terms.work, terms.time);
  EXPECT_LE(plan.cells(), static_cast<std::size_t>(kPlanCellsMax));
  EXPECT_GT(plan.step(), kMinute);
  const ExpectedHours hours =
      plan.Evaluate({.time_left = terms.time, .spot_available = true}, terms.work);
  EXPECT_GE(hours.spot, 1000);
  EXPECT_LE(hours.spot, 3000);
}

TEST(Plan, CoversWhatItWasMadeFor) {
  const JobTerms terms = testing::Terms(10 * kHour, 15 * kHour, kHour, kHour);
  const Plan plan(terms, SomeHazards(), terms.work, terms.time);
  EXPECT_TRUE(plan.Covers({.time_left = 15 * kHour}, 10 * kHour));
  EXPECT_FALSE(plan.Covers({.time_left = 30 * kHour}, 25 * kHour));
  EXPECT_FALSE(plan.Covers({.time_left = 15 * kHour}, 2 * kHour)) << "more slack";
}

}  // namespace
}  // namespace sabia::spot
