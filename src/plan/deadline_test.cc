#include "plan/deadline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/snapshots.h"

namespace sabia::plan {
namespace {

using spot::Placement;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing;

class DeadlineTest : public ::testing::Test {
 protected:
  DeadlineTest() {
    job_ = NewJob({.spot = true, .max_runtime = 36'000, .max_wait = 36'000});
    job_.request.Edit()["CheckpointConfig"] = {{"S3Uri", "s3://b/c"}};
    job_.deadline = model::Deadline{model::DeadlinePolicy::kPlanner, Seconds(10'000)};
    Market({});
  }

  void Market(std::vector<spot::Outage> outages) {
    market_.zone = "a";
    market_.gang =
        spot::MakeGangMarket({{*spot::MakeScheduledMarket(std::move(outages), kSpot), 1}});
    market_.observed = true;
    market_.history = std::chrono::hours(24 * 7);
    market_.spot_per_hour = kSpot;
    market_.on_demand_per_hour = kSpot * 3;
  }

  SpotAdvice Ask(int second) {
    market_.can_launch = spot::CanLaunch(*market_.gang, At(second), rules_.reclaim_notice);
    return advisor_.Advise({job_, hosts_, rules_, market_, At(second)});
  }

  void Launch(int second, bool spot) {
    job_.attempts.push_back(
        {static_cast<int>(job_.attempts.size()) + 1, spot, At(second), {}, {}, ""});
    job_.phase = model::TrainingPhase::kLaunching;
    hosts_.assign(1, InstanceView{});
    hosts_[0].report = model::Report{};
  }
  void Train(int second) {
    job_.attempts.back().began = At(second);
    job_.phase = model::TrainingPhase::kTraining;
  }

  static constexpr Money kSpot = Money::FromNanos(100'000'000);
  const TrainingRules rules_;
  model::TrainingJob job_;
  std::vector<InstanceView> hosts_;
  MarketNow market_;
  DeadlineAdvisor advisor_;
};

TEST_F(DeadlineTest, SpotWhileItIsThere) {
  const SpotAdvice advice = Ask(0);
  EXPECT_EQ(advice.placement, Placement::kSpot);
  EXPECT_THAT(advice.why, StartsWith("planner: spot: $"));
}

TEST_F(DeadlineTest, WaitsAsLongAsOnDemandStillMeetsTheDeadline) {
  Market({{At(-1), At(100'000'000)}});
  for (const auto policy : {model::DeadlinePolicy::kPlanner, model::DeadlinePolicy::kGreedy}) {
    job_.deadline->policy = policy;
    advisor_ = {};
    int second = 0;
    while (second < 36'000 && Ask(second).placement == Placement::kIdle) second += 60;
    // Of 36000 s the work takes up to 15000; a start, its stop and the uploads at most 240.
    EXPECT_LE(second, 36'000 - 15'000 - 240 + 60) << Name(policy);
    if (policy == model::DeadlinePolicy::kGreedy) {
      EXPECT_GT(second, 18'000);
    }
    EXPECT_EQ(Ask(second).placement, Placement::kOnDemand);
  }
}

TEST_F(DeadlineTest, WithoutCheckpointsSpotNeedsTimeForTheWholeJobTwice) {
  job_.request.Edit().erase("CheckpointConfig");
  EXPECT_EQ(Ask(0).placement, Placement::kSpot);  // 36000 s are enough for twice 15000
  EXPECT_NE(Ask(8'000).placement, Placement::kSpot);
}

TEST_F(DeadlineTest, ChoosesOnDemandWhenNothingElseIsSafe) {
  job_.deadline->expected_runtime = Seconds(23'800);
  EXPECT_EQ(Ask(0).placement, Placement::kOnDemand);
}

TEST_F(DeadlineTest, WorkThatNobodySavesIsNotRiskedToTheEnd) {
  job_.deadline->expected_runtime = Seconds(20'000);  // up to 30000
  Launch(0, true);
  Train(60);
  hosts_[0].report->checkpoint_written_at.reset();
  int second = 120;
  while (second < 36'000 && Ask(second).placement == Placement::kSpot) second += 60;
  // 36000 - 30000 is the time that a reclaim may cost.
  EXPECT_LT(second, 6'000);
  EXPECT_EQ(Ask(second).placement, Placement::kOnDemand);
  EXPECT_THAT(Ask(second).why, HasSubstr("on-demand"));
}

TEST_F(DeadlineTest, CheckpointsMakeSpotSafe) {
  job_.deadline->expected_runtime = Seconds(20'000);
  Launch(0, true);
  Train(60);
  for (int second = 120; second < 20'000; second += 60) {
    hosts_[0].report->checkpoint_written_at = At(second - 10);
    ASSERT_EQ(Ask(second).placement, Placement::kSpot) << second;
  }
}

TEST_F(DeadlineTest, WorkThatOutgrowsItsEstimateRunsOnDemand) {
  job_.deadline->expected_runtime = Seconds(1'000);
  Launch(0, true);
  Train(10);
  hosts_[0].report->checkpoint_written_at = At(1'500);
  EXPECT_EQ(Ask(1'505).placement, Placement::kSpot);
  EXPECT_EQ(Ask(1'520).placement, Placement::kOnDemand);
  EXPECT_THAT(Ask(1'520).why, HasSubstr("outgrown"));
}

TEST_F(DeadlineTest, PastItsTimeAJobStaysWhereItIs) {
  Launch(100, true);
  Train(160);
  EXPECT_EQ(Ask(35'980).placement, Placement::kSpot);
  EXPECT_EQ(Ask(40'000).placement, Placement::kSpot);
  job_.phase = model::TrainingPhase::kQueued;
  EXPECT_EQ(Ask(40'001).placement, Placement::kOnDemand);
}

TEST_F(DeadlineTest, StandingIsMeasuredFromTheJobItself) {
  Launch(0, true);
  Standing standing = StandingOf(job_, hosts_, rules_, At(10));
  EXPECT_EQ(standing.start, Seconds(60));
  EXPECT_EQ(standing.start_left, Seconds(50));
  Train(20);
  hosts_[0].report->checkpoint_written_at = At(80);
  standing = StandingOf(job_, hosts_, rules_, At(100));
  EXPECT_EQ(standing.start, Seconds(26));  // 20, a quarter more, and a second
  EXPECT_EQ(standing.saved, Seconds(60));
  EXPECT_EQ(standing.unsaved, Seconds(20));
  job_.attempts[0].ended = At(100);
  job_.attempts[0].saved = At(80);
  Launch(200, false);
  Train(230);
  standing = StandingOf(job_, hosts_, rules_, At(300));
  EXPECT_EQ(standing.saved, Seconds(60));
  EXPECT_EQ(standing.unsaved, Seconds(70));
  EXPECT_EQ(standing.longest_gap, Seconds(20));
}

TEST_F(DeadlineTest, OnDemandIsNotLeftWhenTheUnsavedWorkIsNeeded) {
  job_.deadline->expected_runtime = Seconds(20'000);
  Launch(0, false);
  Train(60);
  EXPECT_EQ(Ask(6'000).placement, Placement::kOnDemand);
  EXPECT_EQ(Ask(20'000).placement, Placement::kOnDemand);
}

}  // namespace
}  // namespace sabia::plan
