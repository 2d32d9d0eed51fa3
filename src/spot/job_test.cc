#include "spot/job.h"

#include <gtest/gtest.h>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::kHour;
using testing::kMinute;

JobTerms TenHours() { return testing::Terms(10 * kHour, 15 * kHour, kHour, kHour / 2); }

TEST(JobTerms, TheDeadlineMustBePossibleOnDemand) {
  JobTerms terms = TenHours();
  EXPECT_TRUE(Check(terms).has_value());
  terms.time = 11 * kHour;
  EXPECT_TRUE(Check(terms).has_value());
  terms.time -= Millis(1);
  const Status checked = Check(terms);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(checked.error().message.find("39600 s on demand"), std::string::npos);
}

TEST(JobTerms, TheErrorOfTheEstimateCounts) {
  JobTerms terms = TenHours();
  terms.work_error = 0.5;
  EXPECT_EQ(terms.WorkMax(), 15 * kHour);
  EXPECT_FALSE(Check(terms).has_value());
  terms.time = 16 * kHour;
  EXPECT_TRUE(Check(terms).has_value());
}

TEST(JobTerms, BadTermsAreNamed) {
  const auto message = [](auto change) {
    JobTerms terms = TenHours();
    change(terms);
    const Status checked = Check(terms);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_NE(message([](JobTerms& t) { t.work = Millis(0); }).find("work is 0"), std::string::npos);
  EXPECT_NE(message([](JobTerms& t) { t.look = Millis(0); }).find("look is 0"), std::string::npos);
  EXPECT_NE(message([](JobTerms& t) { t.changeover = Millis(-1); }).find("changeover"),
            std::string::npos);
  EXPECT_NE(message([](JobTerms& t) { t.lost_work_max = Millis(-1); }).find("lost work"),
            std::string::npos);
  EXPECT_NE(message([](JobTerms& t) { t.work_error = -0.1; }).find("error of the work"),
            std::string::npos);
  EXPECT_NE(message([](JobTerms& t) { t.spot_per_hour = Money::FromNanos(-1); }).find("price"),
            std::string::npos);
}

TEST(WorkLeft, OfWorkThatOutgrowsItsEstimateHalfOfTheRest) {
  JobTerms terms = TenHours();
  terms.work_error = 0.2;
  Situation now{.time_left = 15 * kHour, .work_done = 4 * kHour};
  EXPECT_EQ(WorkLeft(terms, now), 6 * kHour);
  EXPECT_EQ(WorkLeftMax(terms, now), 8 * kHour);
  now.work_done = 11 * kHour;
  EXPECT_EQ(WorkLeft(terms, now), kHour / 2);
  now.work_done = 13 * kHour;  // beyond the bound
  EXPECT_EQ(WorkLeft(terms, now), Millis(1));
  EXPECT_EQ(WorkLeftMax(terms, now), Millis(1));
}

TEST(IsSafe, WaitingLeavesRoomForAStartAtTheNextLook) {
  const JobTerms terms = TenHours();
  Situation now{.time_left = 11 * kHour + kHour / 2};
  EXPECT_TRUE(IsSafe(terms, now, Placement::kIdle));
  now.time_left -= Millis(1);
  EXPECT_FALSE(IsSafe(terms, now, Placement::kIdle));
}

TEST(IsSafe, SpotMustSurviveTheWorstReclaim) {
  JobTerms terms = TenHours();
  terms.lost_work_max = 20 * kMinute;
  // A start wastes a look of half an hour, then 20 minutes are lost, then a start costs an hour.
  Situation now{.time_left = 10 * kHour + 110 * kMinute, .spot_available = true};
  EXPECT_TRUE(IsSafe(terms, now, Placement::kSpot));
  now.time_left -= Millis(1);
  EXPECT_FALSE(IsSafe(terms, now, Placement::kSpot));
  now.time_left += kMinute;
  now.spot_available = false;
  EXPECT_FALSE(IsSafe(terms, now, Placement::kSpot));
  // What runs and has its changeover behind it wastes nothing.
  Situation runs{.time_left = 10 * kHour + 80 * kMinute,
                 .placement = Placement::kSpot,
                 .spot_available = true};
  EXPECT_TRUE(IsSafe(terms, runs, Placement::kSpot));
  runs.time_left -= Millis(1);
  EXPECT_FALSE(IsSafe(terms, runs, Placement::kSpot));
}

TEST(IsSafe, OnDemandNeedsTheRestOfItsChangeoverOnly) {
  const JobTerms terms = TenHours();
  Situation now{.time_left = 10 * kHour + 5 * kMinute,
                .placement = Placement::kOnDemand,
                .changeover_left = 5 * kMinute};
  EXPECT_TRUE(IsSafe(terms, now, Placement::kOnDemand));
  now.placement = Placement::kIdle;
  EXPECT_FALSE(IsSafe(terms, now, Placement::kOnDemand));
}

TEST(LastResort, KeepsSpotWhenAStartWouldBeLate) {
  const JobTerms terms = TenHours();
  Situation now{
      .time_left = 10 * kHour + kMinute, .placement = Placement::kSpot, .spot_available = true};
  EXPECT_EQ(LastResort(terms, now), Placement::kSpot);
  now.time_left = 11 * kHour;
  EXPECT_EQ(LastResort(terms, now), Placement::kOnDemand);
  now = {.time_left = kHour};
  EXPECT_EQ(LastResort(terms, now), Placement::kOnDemand);
}

}  // namespace
}  // namespace sabia::spot
