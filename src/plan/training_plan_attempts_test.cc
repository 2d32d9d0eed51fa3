// Jobs that lose their instances, and what the next attempt makes of it.
#include "plan/training_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/snapshots.h"

namespace sabia::plan {
namespace {

using model::StopReason;
using model::TrainingPhase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

const TrainingRules kRules;

TEST(SpotJob, InterruptedGetsANoticeAndStartsAgainWithWhatWasRestored) {
  TrainingSnapshot seen = Placed({.spot = true, .max_wait = 3600}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .downloading = 4, .training = 6});
  EXPECT_FALSE(Settle(seen));
  seen.job.interrupt_attempt = 1;
  seen.now = At(30);
  auto action = Settle(seen);
  EXPECT_EQ(seen.job.secondary_status, "Interrupted");
  EXPECT_THAT(LastMessage(seen.job),
              HasSubstr("0123456789ab-1-1 (algo-1, ml.m5.large) got a notice of 120 s"));
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  const model::Orders orders = std::get<Order>(*action).orders.begin()->second;
  EXPECT_EQ(orders.stop, StopReason::kInterrupted);
  EXPECT_EQ(orders.kill_at, At(150));

  seen.instances[0].orders = orders;
  seen.instances[0].report = MakeReport(
      {.preparing = 3, .downloading = 4, .training = 6, .stopping = 30, .exited = 31, .done = 33});
  seen.instances[0].report->stopped_for = StopReason::kInterrupted;
  seen.instances[0].report->channels = {{.name = "t", .way = "view", .bytes = 5}};
  seen.now = At(34);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.attempts[0].ended, At(33));

  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(1);
  seen.now = At(60);
  const auto placed = NextStep(seen, kRules);
  seen.job = std::get<Record>(*placed).job;
  InstanceView host;
  host.record = std::get<Record>(*placed).lease[0];
  EXPECT_EQ(host.record.id, "0123456789ab-2-1");
  host.alive = true;
  host.report = MakeReport({.preparing = 61,
                            .downloading = 62,
                            .training = 63,
                            .exited = 80,
                            .uploading = 80,
                            .done = 81});
  host.report->restored_files = 7;
  host.report->restored_bytes = 4096;
  host.report->channels = {{.name = "t", .way = "view", .bytes = 5}};
  seen.instances = {host};
  seen.capacity = {};
  seen.now = At(82);
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job),
              ElementsAre("Starting", "Downloading", "Training", "Interrupted", "Starting",
                          "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_THAT(seen.job.transitions[4].message,
              HasSubstr("restored 7 checkpoint files (4096 bytes)"));
  ASSERT_EQ(seen.job.channels.size(), 1u);
  EXPECT_EQ(seen.job.channels[0].bytes, 10) << "of both attempts";
  EXPECT_EQ(seen.job.channels[0].hosts, 2);
  EXPECT_EQ(model::TrainingTime(seen.job, seen.now), Seconds(77));
  EXPECT_EQ(model::BillableTime(seen.job, seen.now), Seconds(29 + 19));
}

TEST(SpotJob, ThatEndsByItselfDuringTheNoticeCompletes) {
  TrainingSnapshot seen = Placed({.spot = true}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  seen.job.interrupt_attempt = 1;
  seen.now = At(20);
  Settle(seen);
  ASSERT_EQ(seen.job.phase, TrainingPhase::kInterrupting);
  seen.instances[0].report = FinishedWell();
  seen.instances[0].report->model_uploaded = true;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kCompleted);
}

TEST(SpotJob, ThatEndsDuringTheNoticeButCouldNotSaveItsModelRunsAgain) {
  TrainingSnapshot seen = Placed({.spot = true}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  seen.job.interrupt_attempt = 1;
  seen.now = At(20);
  Settle(seen);
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6, .done = 21});
  seen.instances[0].report->exit_code = 0;
  seen.instances[0].report->stopped_for = StopReason::kInterrupted;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
}

TEST(SpotJob, ThatUploadsWhenTheNoticeComesIsLeftToFinish) {
  TrainingSnapshot seen = Placed({.spot = true}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  EXPECT_FALSE(Settle(seen));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6, .uploading = 20});
  seen.instances[0].report->exit_code = 0;
  seen.job.interrupt_attempt = 1;
  seen.now = At(21);
  EXPECT_FALSE(Settle(seen)) << "no order to stop";
  EXPECT_EQ(seen.job.phase, TrainingPhase::kUploading);
}

TEST(SpotJob, ThatWasReclaimedFindsNewCapacityNoSoonerThanTheDelay) {
  TrainingSnapshot seen;
  seen.job = NewJob({.spot = true});
  seen.job.attempts.push_back({1, true, At(1), At(2), At(10), "interrupted"});
  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(1);
  seen.now = At(11);
  EXPECT_FALSE(NextStep(seen, kRules));
  EXPECT_EQ(NextDue(seen, {.replacement_delay = Millis(500), .show_waiting_after = Millis(0)}),
            std::nullopt);
  EXPECT_EQ(NextDue(seen, kRules), At(12));
  seen.now = At(12);
  EXPECT_TRUE(NextStep(seen, kRules));
  seen.job.attempts.back().end_reason = "lost";
  seen.now = At(11);
  EXPECT_TRUE(NextStep(seen, kRules)) << "a lost host is replaced at once";
}

TEST(SpotJob, AnInterruptOfAnEarlierAttemptDoesNothing) {
  TrainingSnapshot seen = Placed({.spot = true}, At(2));
  seen.job.attempts.back().number = 2;
  seen.job.interrupt_attempt = 1;
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kTraining);
}

TEST(SpotJob, WithALostHostRestartsAsAWhole) {
  TrainingSnapshot seen = Placed({.spot = true, .hosts = 2}, At(2));
  for (auto& host : seen.instances) host.report = MakeReport({.preparing = 3, .training = 6});
  EXPECT_FALSE(Settle(seen));
  seen.instances[1].alive = false;
  seen.now = At(30);
  auto action = Settle(seen);
  EXPECT_EQ(seen.job.secondary_status, "Interrupted");
  EXPECT_THAT(LastMessage(seen.job), HasSubstr("0123456789ab-1-2 (algo-2, ml.m5.large) was lost"));
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  EXPECT_EQ(std::get<Order>(*action).orders.at("0123456789ab-1-1").stop, StopReason::kPeerLost);
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6, .exited = 31, .done = 32});
  seen.instances[0].report->stopped_for = StopReason::kPeerLost;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.attempts.back().end_reason, "lost");
}

TEST(OnDemandJob, WithALostAgentFailsAndSaysSo) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  seen.instances[0].alive = false;
  seen.instances[0].last_seen = At(20);
  seen.now = At(500);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_THAT(seen.job.failure_reason,
              HasSubstr("InternalServerError: We encountered an internal error."));
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("agent ended without a final report"));
  EXPECT_EQ(seen.job.training_end, At(20)) << "not billed for the time nobody looked";
}

TEST(OnDemandJob, RetriesInternalErrorsAsOftenAsAsked) {
  TrainingSnapshot seen = Placed({.retries = 1}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  seen.instances[0].alive = false;
  seen.now = At(30);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.retries, 1);
  EXPECT_THAT(LastMessage(seen.job), HasSubstr("retry 1 of 1: InternalServerError"));
  EXPECT_THAT(seen.job.notes, ElementsAre(HasSubstr("attempt 1 was retried: InternalServerError")));
  EXPECT_TRUE(seen.job.failure_reason.empty());
}

TEST(OnDemandJob, DoesNotRetryFailuresOfTheProgram) {
  TrainingSnapshot seen = Placed({.retries = 3}, At(2));
  seen.instances[0].report = FinishedWell();
  seen.instances[0].report->exit_code = 1;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_EQ(seen.job.retries, 0);
}

}  // namespace
}  // namespace sabia::plan
