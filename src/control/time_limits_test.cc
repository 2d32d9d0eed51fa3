// Limits of time, to the second, on a clock that the test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing/world.h"

namespace sabia::control {
namespace {

using control::testing::World;
using fleet::testing::FakeProgram;
using model::TrainingJob;

constexpr Millis kStep{20};  // of the world's clock, and one more for the look

FakeProgram Endless() {
  FakeProgram program;
  program.trains = Seconds(100'000);
  return program;
}

WallTime BeginOf(const TrainingJob& job, const std::string& status) {
  for (const model::Transition& step : job.transitions) {
    if (step.status == status) return step.start;
  }
  return {};
}

TEST(TimeLimits, MaxWaitEndsARunningJobOnTheSecond) {
  World world;
  world.fleet.SetProgram("job", Endless());
  world.Submit("job", {.spot = true, .max_runtime = 60'000, .max_wait = 100});
  ASSERT_TRUE(world.RunUntilQuiet());
  const TrainingJob job = world.Job("job");
  EXPECT_EQ(job.secondary_status, "MaxWaitTimeExceeded");
  EXPECT_GE(BeginOf(job, "Stopping"), job.created + Seconds(100));
  EXPECT_LE(BeginOf(job, "Stopping"), job.created + Seconds(100) + kStep);
  EXPECT_LE(*job.training_end, job.created + Seconds(101));
  EXPECT_TRUE(job.model_uploaded);
}

TEST(TimeLimits, MaxWaitCountsTheWaitForAnotherJob) {
  World world({2, std::int64_t{8} << 30, 0});
  world.fleet.SetProgram("first", Endless());
  world.Submit("first");
  world.Submit("second", {.spot = true, .max_runtime = 50, .max_wait = 50});
  ASSERT_TRUE(world.RunUntil([&] { return model::IsTerminal(world.Job("second").phase); }));
  const TrainingJob job = world.Job("second");
  EXPECT_EQ(job.secondary_status, "MaxWaitTimeExceeded");
  EXPECT_LE(*job.training_end, job.created + Seconds(50) + kStep);
  EXPECT_FALSE(model::BillableTime(job, world.clock.Wall()));
  EXPECT_TRUE(job.attempts.empty());
}

TEST(TimeLimits, AnAgentThatForgetsMaxRuntimeIsReminded) {
  const Millis slack = plan::TrainingRules{}.runtime_slack;
  World world;
  world.fleet.SetProgram("job", Endless());
  world.Submit("job", {.max_runtime = 100});
  ASSERT_TRUE(world.RunUntilQuiet());
  const TrainingJob job = world.Job("job");
  EXPECT_EQ(job.secondary_status, "MaxRuntimeExceeded");
  const WallTime limit = *job.training_start + Seconds(100) + slack;
  EXPECT_GE(BeginOf(job, "Stopping"), limit);
  EXPECT_LE(BeginOf(job, "Stopping"), limit + kStep);
}

TEST(TimeLimits, MaxRuntimeIsOfAllAttemptsTogether) {
  World world;
  world.fleet.SetProgram("job", Endless());
  world.Submit("job", {.spot = true, .max_runtime = 100, .max_wait = 1000});
  const auto trains = [&] { return world.Job("job").phase == model::TrainingPhase::kTraining; };
  ASSERT_TRUE(world.RunUntil(trains));
  const WallTime begin = world.clock.Wall();
  ASSERT_TRUE(world.RunUntil([&] { return world.clock.Wall() >= begin + Seconds(70); }));
  world.Edit("job", [](TrainingJob& job) { job.interrupt_attempt = 1; });
  ASSERT_TRUE(world.RunUntilQuiet());
  const TrainingJob job = world.Job("job");
  EXPECT_EQ(job.secondary_status, "MaxRuntimeExceeded");
  ASSERT_EQ(job.attempts.size(), 2u);
  const Millis second = *job.attempts[1].ended - *job.attempts[1].ready;
  EXPECT_LE(second, Seconds(31) + plan::TrainingRules{}.runtime_slack);
}

}  // namespace
}  // namespace sabia::control
