// What a market, a deadline policy and the machine's own notice make of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/snapshots.h"
#include "plan/training_plan.h"

namespace sabia::plan {
namespace {

using model::StopReason;
using model::TrainingPhase;
using spot::Placement;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

const TrainingRules kRules;

TrainingSnapshot Queued(const JobOptions& options) {
  TrainingSnapshot seen;
  seen.job = NewJob(options);
  seen.now = At(100);
  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(1);
  return seen;
}

TrainingSnapshot Training(const JobOptions& options) {
  TrainingSnapshot seen = Placed(options, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .downloading = 4, .training = 6});
  EXPECT_FALSE(Settle(seen));
  return seen;
}

TEST(SpotMarket, WithoutCapacityTheJobWaitsAndSaysForWhat) {
  TrainingSnapshot seen = Queued({.spot = true, .max_wait = 3600});
  seen.spot.offer.reset();
  seen.spot.no_offer = "there is none in a";
  seen.spot.look_at = At(500);
  EXPECT_FALSE(WantsInstances(seen));
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.secondary_status, "Starting");
  EXPECT_EQ(LastMessage(seen.job), "Training job waiting for capacity: there is none in a");
  EXPECT_EQ(NextDue(seen, kRules), At(500));
  seen.now = At(3600);
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Stopping", "MaxWaitTimeExceeded"));
}

TEST(SpotMarket, TheAttemptKeepsZoneAndPrice) {
  TrainingSnapshot seen = Queued({.spot = true, .max_wait = 3600});
  seen.spot.offer = SpotOffer{"us-west-2b", Money::FromNanos(7)};
  const auto placed = NextStep(seen, kRules);
  ASSERT_TRUE(placed && std::holds_alternative<Record>(*placed));
  const model::Attempt attempt = std::get<Record>(*placed).job.attempts.at(0);
  EXPECT_TRUE(attempt.spot);
  EXPECT_EQ(attempt.zone, "us-west-2b");
  EXPECT_EQ(attempt.per_hour, Money::FromNanos(7));
}

TEST(SpotMarket, ItsNoticeIsTheIntentOfAnInterruptionAndComesOnce) {
  TrainingSnapshot seen = Training({.spot = true, .max_wait = 3600});
  seen.spot.notice = spot::InstanceEvent{spot::EventKind::kNotice, At(200), At(320)};
  seen.now = At(199);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kTraining);
  EXPECT_EQ(NextDue(seen, kRules), At(200));
  seen.now = At(230);  // the daemon was away for half a minute
  const auto action = Settle(seen);
  EXPECT_EQ(seen.job.phase, TrainingPhase::kInterrupting);
  EXPECT_EQ(seen.job.interrupt_attempt, 1);
  EXPECT_EQ(seen.job.reclaim_at, At(320));
  EXPECT_THAT(LastMessage(seen.job), HasSubstr("notice of 90 s"));
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  EXPECT_EQ(std::get<Order>(*action).orders.begin()->second.kill_at, At(320));
}

TEST(SpotMarket, TheMachinesOwnNoticeKeepsTheJobAwayFromIt) {
  TrainingSnapshot seen = Training({.spot = true, .max_wait = 3600});
  seen.instances[0].report->machine_ends_at = At(150);
  seen.now = At(40);
  EXPECT_TRUE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kInterrupting);
  EXPECT_EQ(seen.job.attempts[0].gone, At(150));
  seen.instances[0].report = MakeReport(
      {.preparing = 3, .downloading = 4, .training = 6, .stopping = 40, .exited = 41, .done = 42});
  seen.instances[0].report->stopped_for = StopReason::kInterrupted;
  seen.now = At(50);
  EXPECT_FALSE(Settle(seen));
  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(1);
  EXPECT_FALSE(NextStep(seen, kRules));
  EXPECT_EQ(NextDue(seen, kRules), At(150));
  seen.now = At(150);
  EXPECT_TRUE(NextStep(seen, kRules));
}

TEST(SpotMarket, OnDemandAttemptsAreNotReclaimed) {
  TrainingSnapshot seen = Queued({.spot = true, .max_wait = 3600});
  seen.spot.advice = SpotAdvice{Placement::kOnDemand, "planner: on-demand"};
  const auto placed = NextStep(seen, kRules);
  const Record& record = std::get<Record>(*placed);
  EXPECT_FALSE(record.job.attempts.at(0).spot);
  EXPECT_EQ(record.job.attempts.at(0).choice, "planner: on-demand");
  EXPECT_FALSE(record.lease.at(0).spot);
  EXPECT_EQ(record.job.attempts.at(0).per_hour, std::nullopt);
}

TEST(DeadlinePolicy, MovesTheJobWithAFlushAndCountsTheAttemptAsMoved) {
  TrainingSnapshot seen = Training({.spot = true, .max_wait = 3600});
  seen.spot.advice = SpotAdvice{Placement::kSpot, "planner: spot"};
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kTraining);
  seen.now = At(60);
  seen.spot.advice = SpotAdvice{Placement::kOnDemand, "planner: on-demand: $2.00 expected"};
  const auto action = Settle(seen);
  EXPECT_EQ(seen.job.secondary_status, "Interrupted");
  EXPECT_EQ(LastMessage(seen.job),
            "Leaving spot capacity for the sake of the deadline: planner: on-demand: $2.00 "
            "expected");
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  EXPECT_EQ(std::get<Order>(*action).orders.begin()->second.stop, StopReason::kInterrupted);
  seen.instances[0].report = MakeReport(
      {.preparing = 3, .downloading = 4, .training = 6, .stopping = 60, .exited = 61, .done = 62});
  seen.instances[0].report->stopped_for = StopReason::kInterrupted;
  seen.now = At(63);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.attempts[0].end_reason, "moved");
  EXPECT_EQ(seen.job.move_to, "");
  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(1);
  EXPECT_TRUE(NextStep(seen, kRules));  // at once: nothing was reclaimed
}

TEST(StopDuringANotice, ShowsAtOnceAndSavesTheArtifacts) {
  TrainingSnapshot seen = Training({.spot = true, .max_wait = 3600});
  seen.job.interrupt_attempt = 1;
  seen.now = At(30);
  auto action = Settle(seen);
  seen.instances[0].orders = std::get<Order>(*action).orders.begin()->second;
  seen.job.stop_requested = At(40);
  seen.now = At(41);
  action = Settle(seen);
  EXPECT_EQ(seen.job.phase, TrainingPhase::kStopping);
  EXPECT_EQ(seen.job.reclaim_at, At(150));
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  const model::Orders orders = std::get<Order>(*action).orders.begin()->second;
  EXPECT_EQ(orders.stop, StopReason::kRequested);
  EXPECT_EQ(orders.kill_at, At(150));
  EXPECT_THAT(Statuses(seen.job),
              ElementsAre("Starting", "Downloading", "Training", "Interrupted", "Stopping"));
}

TEST(StopDuringANotice, MaxWaitEndsTheJobToo) {
  TrainingSnapshot seen = Training({.spot = true, .max_runtime = 40, .max_wait = 50});
  seen.job.interrupt_attempt = 1;
  seen.now = At(30);
  const auto action = Settle(seen);
  seen.instances[0].orders = std::get<Order>(*action).orders.begin()->second;
  EXPECT_EQ(NextDue(seen, kRules), At(50));
  seen.now = At(50);
  EXPECT_TRUE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kStopping);
  EXPECT_EQ(seen.job.stop_reason, StopReason::kMaxWait);
}

}  // namespace
}  // namespace sabia::plan
