// Goal: the loop, the pool, committers and agents on threads of their own lose no job and race on
// nothing (the tsan preset runs this too). Method: many short jobs from several threads on the
// production executor; agents in memory act as fast as they can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/log.h"
#include "control/testing/fake_ports.h"
#include "control/training_controller.h"
#include "control/tuning_controller.h"
#include "env/posix/posix_clock.h"
#include "fleet/testing/fake_fleet.h"
#include "store/training_job_row.h"
#include "store/tuning_job_row.h"
#include "tuning/testing/requests.h"

namespace sabia::control {
namespace {

using ::testing::IsEmpty;

model::TrainingJob NewJob(int number, WallTime now) {
  model::TrainingJob job;
  job.uid = fmt::format("{:012x}", number);
  job.name = fmt::format("job-{}", number);
  job.created = job.modified = now;
  job.request = {
      {"AlgorithmSpecification", {{"TrainingImage", "sabia/python:3"}}},
      {"OutputDataConfig", {{"S3OutputPath", "s3://out/"}}},
      {"EnableManagedSpotTraining", number % 3 == 0},
      {"ResourceConfig", {{"InstanceCount", 1 + number % 2}, {"InstanceType", "ml.m5.large"}}},
      {"StoppingCondition", {{"MaxRuntimeInSeconds", 3600}}}};
  EnterStatus(job, "Starting", "Starting the training job", now);
  return job;
}

json::object ManyAtOnce() {
  json::object request = tuning::testing::SmallRequest();
  tuning::testing::ConfigIn(request)["Strategy"] = "Random";
  tuning::testing::ConfigIn(request)["ResourceLimits"] = {{"MaxNumberOfTrainingJobs", 20},
                                                          {"MaxParallelTrainingJobs", 5}};
  return request;
}

class Threads : public ::testing::Test {
 protected:
  Threads() {
    SetLogLevel(LogLevel::kError);
    records_.OnCommit([this](store::Kind kind, const std::string& name) {
      controller_.RecordChanged(kind, name);
    });
    fleet_.OnPoke([this](const std::string& id) { controller_.Poke(id); });
    fleet_.OnExit([this](const std::string& id) { controller_.Poke(id); });
  }

  bool AllEnded() { return records_.Live(store::Kind::kTrainingJob)->empty(); }

  env::PosixClock clock_;
  fleet::testing::FakeFleet fleet_{clock_};
  testing::FakeRecords records_;
  testing::FakeChannels channels_;
  testing::FakeMetrics metrics_;
  testing::FakeSessions sessions_;
  fleet::Offer offer_{
      {16, std::int64_t{64} << 30, 0}, {.overcommit = 1}, model::InstanceCatalog::BuiltIn()};
  ThreadPool pool_{6};
  TrainingController controller_{{records_, fleet_, fleet_, channels_, metrics_, sessions_, clock_},
                                 offer_,
                                 pool_,
                                 store::Paths("/fake"),
                                 {}};
};

TEST_F(Threads, BringEveryJobToItsEnd) {
  constexpr int kJobs = 120;
  constexpr int kSubmitters = 4;
  for (int i = 0; i < kJobs; ++i) {
    fleet_.SetProgram(fmt::format("job-{}", i),
                      {Millis(0), Millis(0), Millis(1), Millis(0), Millis(0)});
  }
  ASSERT_TRUE(controller_.Recover());
  controller_.Start();
  std::vector<std::thread> submitters;
  for (int s = 0; s < kSubmitters; ++s) {
    submitters.emplace_back([this, s] {
      for (int i = s; i < kJobs; i += kSubmitters) {
        const Status stored = records_.Commit(
            {{store::Change::Op::kInsert, store::RowOf(NewJob(i, clock_.Wall()), 0), {}, {}}});
        EXPECT_TRUE(stored);
      }
    });
  }
  constexpr Seconds kPatience{90};
  const MonoTime end = clock_.Mono() + kPatience;
  for (std::thread& submitter : submitters) submitter.join();
  while (!AllEnded() && clock_.Mono() < end) fleet_.Tick();
  controller_.Stop();
  EXPECT_TRUE(AllEnded());
  EXPECT_THAT(fleet_.violations(), IsEmpty());
  EXPECT_THAT(*records_.Live(store::Kind::kInstance), IsEmpty());
  for (int i = 0; i < kJobs; ++i) {
    EXPECT_EQ(records_.Get(store::Kind::kTrainingJob, fmt::format("job-{}", i))->status,
              "Completed")
        << i;
  }
}

TEST_F(Threads, BringTuningJobsAndTheirTrialsToTheirEnd) {
  constexpr int kTuningJobs = 6;
  testing::FakeTrialFacts facts{metrics_};
  TuningController tuning({records_, facts, clock_}, pool_, {});
  records_.OnCommit([&](store::Kind kind, const std::string& name) {
    controller_.RecordChanged(kind, name);
    tuning.RecordChanged(kind, name);
  });
  fleet_.ChooseProgram([](const model::InstanceSpec& spec) {
    const double x = std::stod(spec.hyperparameters.at("x"));
    return fleet::testing::FakeProgram{Millis(0), Millis(0), Millis(1), Millis(0),
                                       Millis(0), Millis(0), 0,         {x * x}};
  });
  ASSERT_TRUE(controller_.Recover());
  ASSERT_TRUE(tuning.Recover());
  controller_.Start();
  tuning.Start();
  for (int i = 0; i < kTuningJobs; ++i) {
    model::TuningJob job;
    job.uid = fmt::format("{:012x}", 1000 + i);
    job.name = fmt::format("search-{}", i);
    job.created = job.modified = clock_.Wall();
    job.request = ManyAtOnce();
    EXPECT_TRUE(records_.Commit({{store::Change::Op::kInsert, store::RowOf(job, 0), {}, {}}}));
  }
  const auto ended = [&] { return records_.Live(store::Kind::kTuningJob)->empty(); };
  constexpr Seconds kPatience{90};
  const MonoTime end = clock_.Mono() + kPatience;
  while (!ended() && clock_.Mono() < end) fleet_.Tick();
  tuning.Stop();
  controller_.Stop();
  records_.OnCommit(nullptr);
  EXPECT_TRUE(ended());
  EXPECT_THAT(*records_.Live(store::Kind::kTuningTrial), IsEmpty());
  for (int i = 0; i < kTuningJobs; ++i) {
    const auto trials = records_.Children(store::Kind::kTuningTrial, fmt::format("search-{}", i));
    EXPECT_EQ(trials->size(), 20u);
  }
}

TEST_F(Threads, StopWaitsForWhatIsUnderWayAndLeavesAgentsRunning) {
  fleet_.SetProgram("job-1", {.trains = Seconds(3600)});
  ASSERT_TRUE(controller_.Recover());
  controller_.Start();
  ASSERT_TRUE(records_.Commit(
      {{store::Change::Op::kInsert, store::RowOf(NewJob(1, clock_.Wall()), 0), {}, {}}}));
  while (fleet_.Running().size() < 2) std::this_thread::yield();
  controller_.Stop();
  EXPECT_EQ(fleet_.Running().size(), 2u);
}

}  // namespace
}  // namespace sabia::control
