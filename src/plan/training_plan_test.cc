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

std::string LastMessage(const model::TrainingJob& job) { return job.transitions.back().message; }

model::Report FinishedWell() {
  return MakeReport({.preparing = 10,
                     .downloading = 11,
                     .training = 13,
                     .exited = 20,
                     .uploading = 20,
                     .done = 22});
}

TEST(QueuedJob, DoesNothingUntilCapacityAnswers) {
  TrainingSnapshot seen;
  seen.job = NewJob();
  seen.now = At(1);
  EXPECT_FALSE(NextStep(seen, kRules));
}

TEST(QueuedJob, IsPlacedOnEveryGrantedSliceInOneRecord) {
  const TrainingSnapshot seen = Placed({.hosts = 3}, At(2));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kLaunching);
  ASSERT_EQ(seen.instances.size(), 3u);
  EXPECT_EQ(seen.instances[2].record.id, "0123456789ab-1-3");
  EXPECT_EQ(seen.instances[2].record.Host(), "algo-3");
  EXPECT_EQ(seen.job.attempts.back().launched, At(2));
  EXPECT_EQ(LastMessage(seen.job), "Launching requested ML instances");
}

TEST(QueuedJob, SaysAfterASecondThatItWaitsAndForWhat) {
  TrainingSnapshot seen;
  seen.job = NewJob();
  seen.capacity = {CapacityView::Answer::kWaiting, "2 of 8 vCPU are free", {}, {}};
  seen.now = kCreated + Millis(999);
  EXPECT_FALSE(NextStep(seen, kRules));
  EXPECT_EQ(NextDue(seen, kRules), At(1));
  seen.now = At(1);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.secondary_status, "Pending");
  EXPECT_EQ(LastMessage(seen.job), "Training job waiting for capacity: 2 of 8 vCPU are free");
}

TEST(QueuedJob, OnSpotWaitsInStarting) {
  TrainingSnapshot seen;
  seen.job = NewJob({.spot = true});
  seen.capacity = {CapacityView::Answer::kWaiting, "nothing is free", {}, {}};
  seen.now = At(5);
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting"));
  EXPECT_THAT(LastMessage(seen.job), HasSubstr("nothing is free"));
}

TEST(QueuedJob, IsStoppedAtOnceOnRequest) {
  TrainingSnapshot seen;
  seen.job = NewJob();
  seen.job.stop_requested = At(3);
  seen.now = At(4);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kStopped);
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Stopping", "Stopped"));
  EXPECT_EQ(seen.job.training_end, At(4));
  EXPECT_FALSE(model::BillableTime(seen.job, seen.now));
}

TEST(QueuedJob, NeverLaunchedOnSpotEndsAtMaxWait) {
  TrainingSnapshot seen;
  seen.job = NewJob({.spot = true, .max_wait = 60});
  seen.now = At(59);
  EXPECT_FALSE(NextStep(seen, kRules));
  EXPECT_EQ(NextDue(seen, kRules), At(60));
  seen.now = At(60);
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Stopping", "MaxWaitTimeExceeded"));
  EXPECT_EQ(seen.job.transitions.back().end, At(60));
  EXPECT_FALSE(model::BillableTime(seen.job, seen.now))
      << "nothing was launched, so nothing is billed";
}

TEST(QueuedJob, PendingForTooLongIsStopped) {
  TrainingSnapshot seen;
  seen.job = NewJob({.max_pending = 7200});
  seen.now = At(7200);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.secondary_status, "Stopped");
  EXPECT_THAT(LastMessage(seen.job), HasSubstr("MaxPendingTimeInSeconds"));
}

TEST(QueuedJob, ThatCanNeverFitFailsForCapacity) {
  TrainingSnapshot seen;
  seen.job = NewJob();
  seen.now = At(1);
  seen.capacity = {CapacityView::Answer::kNever, "ml.m5.large has 2 vCPU, this machine 1", {}, {}};
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("CapacityError: Unable to provision"));
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("this machine 1"));
}

TEST(LaunchingJob, StartsTheAgentsThatShowNoLife) {
  TrainingSnapshot seen = Placed({.hosts = 2}, At(2));
  seen.instances[1].alive = false;
  seen.instances[1].launches = 0;
  const auto action = Settle(seen);
  ASSERT_TRUE(action && std::holds_alternative<Launch>(*action));
  EXPECT_THAT(std::get<Launch>(*action).ids, ElementsAre("0123456789ab-1-2"));
}

TEST(LaunchingJob, WhoseChannelCannotBeReadFailsForTheClient) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].alive = false;
  seen.instances[0].fault =
      Fault{"Data download failed: channel 'train': no such bucket 'b'", true};
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_EQ(seen.job.failure_reason,
            "ClientError: Data download failed: channel 'train': no such bucket 'b'");
  EXPECT_FALSE(seen.job.training_start);
}

TEST(LaunchingJob, ReplacesAnInstanceThatNeverCameUp) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].alive = false;
  seen.instances[0].launches = kRules.launches_max;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kQueued);
  EXPECT_EQ(seen.job.attempts.back().end_reason, "lost");
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting"));
  EXPECT_THAT(seen.job.notes, ElementsAre(HasSubstr("attempt 1 was replaced: instance")));
}

TEST(LaunchingJob, GivesUpWhenInstanceAfterInstanceIsLost) {
  TrainingSnapshot seen;
  seen.job = NewJob({.retries = 30});
  seen.now = At(2);
  for (int attempt = 0; attempt < kRules.losses_max; ++attempt) {
    ASSERT_EQ(seen.job.phase, TrainingPhase::kQueued);
    seen.capacity.answer = CapacityView::Answer::kGranted;
    seen.capacity.slices.resize(1);
    const auto placed = NextStep(seen, kRules);
    seen.job = std::get<Record>(*placed).job;
    InstanceView host;
    host.record = std::get<Record>(*placed).lease[0];
    host.launches = kRules.launches_max;
    seen.instances = {host};
    seen.capacity = {};
    seen.now += Seconds(1);
    EXPECT_FALSE(Settle(seen));
  }
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("InternalServerError"));
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("5 attempts in a row"));
}

TEST(RunningJob, TakesTheTimesOfItsTransitionsFromTheAgent) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .downloading = 4, .training = 6});
  seen.now = At(500);
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Downloading", "Training"));
  EXPECT_EQ(seen.job.transitions[1].start, At(4));
  EXPECT_EQ(seen.job.transitions[2].start, At(6));
  EXPECT_EQ(seen.job.training_start, At(4));
  EXPECT_EQ(seen.job.modified, At(500));
}

TEST(RunningJob, WithoutAFileChannelSkipsDownloading) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 6});
  EXPECT_FALSE(Settle(seen));
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Training"));
}

TEST(RunningJob, IsAsFarAsItsSlowestHost) {
  TrainingSnapshot seen = Placed({.hosts = 2}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .downloading = 4, .training = 6});
  seen.instances[1].report = MakeReport({.preparing = 3, .downloading = 5});
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kDownloading);
  EXPECT_EQ(seen.job.training_start, At(5));
}

TEST(RunningJob, ThatEndedBeforeAnyoneLookedIsRecordedAtOnce) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = FinishedWell();
  seen.instances[0].report->model_uploaded = true;
  seen.instances[0].report->metrics = {{"loss", 0.5, At(19)}};
  seen.now = At(900);
  const auto action = NextStep(seen, kRules);
  ASSERT_TRUE(action && std::holds_alternative<Record>(*action));
  const Record& record = std::get<Record>(*action);
  EXPECT_TRUE(record.give_back);
  EXPECT_THAT(Statuses(record.job),
              ElementsAre("Starting", "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_EQ(record.job.training_end, At(22));
  EXPECT_EQ(model::BillableTime(record.job, seen.now), Seconds(11));
  EXPECT_EQ(record.job.final_metrics.size(), 1u);
  EXPECT_TRUE(record.job.model_uploaded);
}

TEST(RunningJob, WhoseProgramFailsTellsTheCauseAndTheExitCode) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = FinishedWell();
  seen.instances[0].report->exit_code = 3;
  seen.instances[0].report->last_lines = {"ValueError: no such column"};
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("AlgorithmError: "));
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("exit code: 3"));
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("ValueError: no such column"));
}

TEST(RunningJob, WhoseDataFailedTellsTheDataWhateverTheProgramMadeOfIt) {
  for (const int exit_code : {0, 1, 143}) {
    TrainingSnapshot seen = Placed({}, At(2));
    seen.instances[0].report =
        MakeReport({.preparing = 3, .downloading = 4, .training = 6, .stopping = 9, .done = 12});
    seen.instances[0].report->exit_code = exit_code;
    seen.instances[0].report->stopped_for = StopReason::kInputFailed;
    seen.instances[0].report->error = "Data download failed:channel 't'";
    seen.instances[0].report->error_is_users = true;
    EXPECT_FALSE(Settle(seen));
    EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
    EXPECT_EQ(seen.job.failure_reason, "ClientError: Data download failed:channel 't'");
  }
}

TEST(RunningJob, OfSeveralHostsUploadsOnTheFirstAndThenDismissesTheRest) {
  TrainingSnapshot seen = Placed({.hosts = 2}, At(2));
  for (auto& host : seen.instances) {
    host.report = MakeReport({.preparing = 3, .training = 4, .exited = 9});
  }
  auto action = Settle(seen);
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  auto orders = std::get<Order>(*action).orders;
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_TRUE(orders.begin()->second.upload);
  EXPECT_THAT(orders.begin()->second.merge_from, ElementsAre("0123456789ab-1-2"));

  seen.instances[0].orders = orders.begin()->second;
  EXPECT_FALSE(Settle(seen)) << "told once, the first host is left to upload";
  seen.instances[0].report =
      MakeReport({.preparing = 3, .training = 4, .exited = 9, .uploading = 10, .done = 12});
  seen.instances[0].alive = false;
  action = Settle(seen);
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  orders = std::get<Order>(*action).orders;
  EXPECT_TRUE(orders.at("0123456789ab-1-2").dismiss);

  seen.instances[1].orders = orders.at("0123456789ab-1-2");
  seen.instances[1].report->phase = model::AgentPhase::kDone;
  seen.instances[1].report->began[model::AgentPhase::kDone] = At(13);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kCompleted);
  EXPECT_EQ(seen.job.training_end, At(13));
}

TEST(RunningJob, WithOneFailedHostStopsTheOthersAndFails) {
  TrainingSnapshot seen = Placed({.hosts = 2}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 4});
  seen.instances[1].report = MakeReport({.preparing = 3, .training = 4, .exited = 9});
  seen.instances[1].report->exit_code = 1;
  auto action = Settle(seen);
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailing);
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  EXPECT_EQ(std::get<Order>(*action).orders.at("0123456789ab-1-1").stop, StopReason::kPeerLost);

  seen.instances[0].report = MakeReport({.preparing = 3, .training = 4, .exited = 11, .done = 11});
  seen.instances[0].report->stopped_for = StopReason::kPeerLost;
  seen.instances[1].report->phase = model::AgentPhase::kDone;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kFailed);
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("algo-2, exit code: 1"));
}

TEST(StoppedJob, KeepsWhatTheProgramLeftInItsGrace) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 4});
  EXPECT_FALSE(Settle(seen));
  seen.job.stop_requested = At(10);
  seen.now = At(10);
  const auto action = Settle(seen);
  EXPECT_EQ(seen.job.secondary_status, "Stopping");
  ASSERT_TRUE(action && std::holds_alternative<Order>(*action));
  EXPECT_EQ(std::get<Order>(*action).orders.begin()->second.stop, StopReason::kRequested);

  seen.instances[0].orders = std::get<Order>(*action).orders.begin()->second;
  seen.instances[0].report = MakeReport(
      {.preparing = 3, .training = 4, .stopping = 10, .exited = 12, .uploading = 12, .done = 13});
  seen.instances[0].report->stopped_for = StopReason::kRequested;
  seen.instances[0].report->exit_code = 143;
  seen.instances[0].report->model_uploaded = true;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kStopped);
  EXPECT_THAT(Statuses(seen.job), ElementsAre("Starting", "Training", "Stopping", "Stopped"));
  EXPECT_TRUE(seen.job.failure_reason.empty());
  EXPECT_TRUE(seen.job.model_uploaded);
  EXPECT_EQ(seen.job.training_end, At(13));
}

TEST(StoppedJob, ThatFinishedByItselfBeforeTheStopReachedItIsCompleted) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = FinishedWell();
  seen.job.stop_requested = At(21);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kCompleted);
}

TEST(StoppedJob, WhoseAgentIgnoresItIsKilledOnce) {
  TrainingSnapshot seen = Placed({}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 4});
  seen.job.stop_requested = At(10);
  seen.now = At(10);
  const auto order = Settle(seen);
  seen.instances[0].orders = std::get<Order>(*order).orders.begin()->second;
  const auto due = NextDue(seen, kRules);
  ASSERT_EQ(due, At(10) + kRules.stop_grace + kRules.kill_slack);
  seen.now = *due - Millis(1);
  EXPECT_FALSE(Settle(seen));
  seen.now = *due;
  const auto kill = Settle(seen);
  ASSERT_TRUE(kill && std::holds_alternative<Kill>(*kill));
  seen.instances[0].killed = true;
  EXPECT_FALSE(Settle(seen));
}

TEST(TimeLimits, ReachedInTheAgentStopTheJobWithMaxRuntimeExceeded) {
  TrainingSnapshot seen = Placed({.max_runtime = 5}, At(2));
  seen.instances[0].report = MakeReport(
      {.preparing = 3, .training = 4, .stopping = 9, .exited = 9, .uploading = 9, .done = 10});
  seen.instances[0].report->stopped_for = StopReason::kMaxRuntime;
  seen.instances[0].report->signal = 15;
  seen.instances[0].report->exit_code.reset();
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kStopped);
  EXPECT_THAT(Statuses(seen.job),
              ElementsAre("Starting", "Training", "Uploading", "Stopping", "MaxRuntimeExceeded"));
}

TEST(TimeLimits, AreEnforcedByThePlannerWhenTheAgentDoesNot) {
  TrainingSnapshot seen = Placed({.max_runtime = 5}, At(2));
  seen.instances[0].report = MakeReport({.preparing = 3, .training = 4});
  EXPECT_FALSE(Settle(seen));
  ASSERT_EQ(NextDue(seen, kRules), At(9) + kRules.runtime_slack);
  seen.now = At(9) + kRules.runtime_slack;
  const auto order = Settle(seen);
  ASSERT_TRUE(order && std::holds_alternative<Order>(*order));
  EXPECT_EQ(std::get<Order>(*order).orders.begin()->second.stop, StopReason::kMaxRuntime);
}

TEST(TimeLimits, CountWaitingAndRunningForMaxWait) {
  TrainingSnapshot seen = Placed({.spot = true, .max_wait = 100}, At(50));
  seen.instances[0].report = MakeReport({.preparing = 51, .training = 52});
  seen.now = At(99);
  EXPECT_FALSE(Settle(seen));
  seen.now = At(100);
  const auto order = Settle(seen);
  ASSERT_TRUE(order && std::holds_alternative<Order>(*order));
  EXPECT_EQ(seen.job.stop_reason, StopReason::kMaxWait);
}

TEST(TimeLimits, LeaveTheNextAttemptOnlyWhatIsLeft) {
  model::TrainingJob job = NewJob({.spot = true, .max_runtime = 100});
  job.attempts.push_back({1, true, At(0), At(10), At(40), "interrupted"});
  job.attempts.push_back({2, true, At(60), std::nullopt, At(61), "lost"});
  EXPECT_EQ(RunTimeLeft(job), Millis(70'000));
}

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
