// Goal: kill -9 of the daemon at any moment of any job loses nothing.
// Method: run the real controller over fakes, let it die before and after each effect in turn,
// throw the controller away, start another, and look at the end state only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing/world.h"

namespace sabia::control {
namespace {

using model::TrainingPhase;
using ::testing::IsEmpty;
using testing::World;

constexpr int kEffectsMax = 200;

struct Scenario {
  std::string name;
  testing::SubmitOptions options;
  fleet::testing::FakeProgram program;
  bool interrupted = false;
  bool stopped = false;
  TrainingPhase end = TrainingPhase::kCompleted;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

class RestartAtEveryEffect : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {};

// Returns whether the fault struck.
bool RunOnce(const Scenario& scenario, int effect, bool after) {
  World world;
  world.fleet.SetProgram("job", scenario.program);
  world.faults.DieAt(effect, after);
  world.Submit("job", scenario.options);
  bool nudged = false;
  const auto nudge = [&] {
    if (world.Job("job").phase != TrainingPhase::kTraining || nudged) return false;
    nudged = true;
    world.Edit("job", [&](model::TrainingJob& job) {
      if (scenario.interrupted) job.interrupt_attempt = 1;
      if (scenario.stopped) job.stop_requested = world.clock.Wall();
    });
    return true;
  };
  if (scenario.interrupted || scenario.stopped) {
    EXPECT_TRUE(world.RunUntil(nudge));
  }
  EXPECT_TRUE(world.RunUntilQuiet());
  const std::string where = world.faults.where();
  EXPECT_EQ(world.Job("job").phase, scenario.end)
      << where << ": " << world.Job("job").failure_reason;
  EXPECT_THAT(world.Violations(), IsEmpty()) << where << ", effect " << effect;
  EXPECT_EQ(world.Job("job").attempts.size(), scenario.interrupted ? 2u : 1u) << where;
  const std::size_t runs = scenario.interrupted ? 2 : 1;
  EXPECT_EQ(world.metrics.points["job"].size(),
            runs * static_cast<std::size_t>(scenario.options.hosts))
      << "each point once; " << where;
  return world.faults.fired();
}

TEST_P(RestartAtEveryEffect, TheJobEndsAsIfNothingHadHappened) {
  const auto& [scenario, after] = GetParam();
  for (int effect = 0; effect < kEffectsMax; ++effect) {
    if (!RunOnce(scenario, effect, after)) {
      EXPECT_GE(effect, 5) << "too few effects to mean anything";
      return;  // the run got past the last effect: every one is covered
    }
    if (HasFailure()) return;
  }
  FAIL() << "effects never ran out";
}

const std::vector<Scenario> kScenarios = {
    {.name = "single"},
    {.name = "gang", .options = {.hosts = 3}},
    {.name = "interrupted",
     .options = {.spot = true, .max_wait = 3600},
     .program = {.trains = Millis(500)},
     .interrupted = true},
    {.name = "interrupted_gang",
     .options = {.hosts = 2, .spot = true},
     .program = {.trains = Millis(500)},
     .interrupted = true},
    {.name = "stopped",
     .program = {.trains = Millis(1'000'000)},
     .stopped = true,
     .end = TrainingPhase::kStopped},
    {.name = "stopped_gang",
     .options = {.hosts = 2},
     .program = {.trains = Millis(1'000'000)},
     .stopped = true,
     .end = TrainingPhase::kStopped},
    {.name = "failed", .program = {.exit_code = 1}, .end = TrainingPhase::kFailed},
    {.name = "failed_gang",
     .options = {.hosts = 2},
     .program = {.exit_code = 1},
     .end = TrainingPhase::kFailed},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, RestartAtEveryEffect,
                         ::testing::Combine(::testing::ValuesIn(kScenarios), ::testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param).name +
                                  (std::get<1>(test.param) ? "_after" : "_before");
                         });

// Whether the fault struck. One job, and then another that may run on what the first one left.
bool RunTwo(int effect, bool after, int hosts) {
  World world;
  const testing::SubmitOptions options{.hosts = hosts, .keep_alive = 60};
  world.faults.DieAt(effect, after);
  world.Submit("first", options);
  EXPECT_TRUE(world.RunUntil([&] { return model::IsTerminal(world.Job("first").phase); }));
  world.Submit("second", options);
  EXPECT_TRUE(world.RunUntilQuiet());
  const std::string where = world.faults.where();
  for (const char* name : {"first", "second"}) {
    EXPECT_EQ(world.Job(name).phase, TrainingPhase::kCompleted) << name << ", " << where;
    EXPECT_EQ(world.Job(name).attempts.size(), 1u) << name << ", " << where;
  }
  const model::TrainingJob first = world.Job("first");
  const model::TrainingJob second = world.Job("second");
  EXPECT_TRUE(first.warm_pool && first.warm_pool->reused_by == "second") << where;
  EXPECT_TRUE(second.warm_pool && second.warm_pool->taken_from == "first") << where;
  EXPECT_EQ(second.warm_pool->state, model::WarmPoolState::kTerminated) << where;
  EXPECT_EQ(model::RetainedTime(*second.warm_pool, world.clock.Wall()), Seconds(60)) << where;
  EXPECT_EQ(world.fleet.warm_starts(), static_cast<std::size_t>(hosts)) << where;
  EXPECT_THAT(world.Violations(), IsEmpty()) << where << ", effect " << effect;
  return world.faults.fired();
}

TEST(Restart, AtEveryEffectOfAWarmPoolLosesNothing) {
  for (const int hosts : {1, 2}) {
    for (const bool after : {false, true}) {
      int effect = 0;
      while (RunTwo(effect, after, hosts) && !HasFailure()) ++effect;
      EXPECT_GE(effect, 15) << "too few effects to mean anything";
      if (HasFailure()) return;
    }
  }
}

TEST(Restart, FindsJobsThatEndedWhileNobodyLooked) {
  World world;
  world.Submit("job");
  ASSERT_TRUE(
      world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kDownloading; }));
  world.KillDaemon();
  for (int i = 0; i < 100; ++i) {
    world.clock.Advance(Millis(10));
    world.fleet.Tick();
  }
  const WallTime ended = world.clock.Wall();
  world.clock.Advance(Seconds(3600));
  world.StartDaemon();
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kCompleted);
  EXPECT_LT(*world.Job("job").training_end, ended) << "the hour without a daemon is not billed";
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(Restart, KeepsTheOrderOfTheQueueAndTheLeases) {
  World world({2, std::int64_t{8} << 30, 0});
  for (const char* name : {"a", "b", "c"}) {
    world.fleet.SetProgram(name, {.trains = Millis(300)});
    world.Submit(name);
    world.clock.Advance(Millis(1));
  }
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("a").phase == TrainingPhase::kTraining; }));
  world.KillDaemon();
  world.StartDaemon();
  world.Turn();
  EXPECT_EQ(world.Job("b").phase, TrainingPhase::kQueued) << "the machine is still full";
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_LT(world.Job("b").attempts[0].launched, world.Job("c").attempts[0].launched);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(Restart, RemovesDirectoriesAndLeasesThatNobodyOwns) {
  World world;
  world.KillDaemon();
  ASSERT_TRUE(world.fleet.Prepare("ffffffffffff-1-1", {}));
  model::InstanceRecord stray;
  stray.id = "eeeeeeeeeeee-1-1";
  stray.job_name = "deleted";
  store::Resource row;
  row.kind = store::Kind::kInstance;
  row.name = stray.id;
  row.parent = stray.job_name;
  row.document = json::serialize(stray.ToJson());
  ASSERT_TRUE(world.records.Commit({{store::Change::Op::kInsert, row, {}, {}}}));
  world.StartDaemon();
  world.Turn();
  EXPECT_THAT(*world.fleet.List(), IsEmpty());
  EXPECT_THAT(*world.records.Live(store::Kind::kInstance), IsEmpty());
}

}  // namespace
}  // namespace sabia::control
