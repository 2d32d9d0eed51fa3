// Goal: kill -9 of the daemon at any moment of a tuning job changes nothing: exactly so many
// trials, no training job without its search, and one after the other the same suggestions.
// Method: as restart_test.cc: the real controllers over fakes die before and after each effect in
// turn, and then again and again at random ones; look at the end state only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing/world.h"
#include "env/random.h"
#include "tuning/testing/requests.h"

namespace sabia::control {
namespace {

using fleet::testing::FakeProgram;
using model::TuningPhase;
using ::testing::IsEmpty;
using testing::World;
using tuning::testing::ConfigIn;

constexpr int kEffectsMax = 600;

struct Scenario {
  std::string name;
  std::string strategy = "Bayesian";
  int trials = 4;
  int parallel = 1;
  bool median_rule = false;
  bool stopped = false;  // by a user, once the second trial trains
  bool fails = false;    // every training job
  TuningPhase end = TuningPhase::kCompleted;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

json::object RequestFor(const Scenario& scenario) {
  json::object request = tuning::testing::SmallRequest();
  json::object& config = ConfigIn(request);
  config["Strategy"] = scenario.strategy;
  config["TrainingJobEarlyStoppingType"] = scenario.median_rule ? "Auto" : "Off";
  config["ResourceLimits"] = {{"MaxNumberOfTrainingJobs", scenario.trials},
                              {"MaxParallelTrainingJobs", scenario.parallel}};
  return request;
}

void SetPrograms(World& world, const Scenario& scenario) {
  world.fleet.ChooseProgram([scenario](const model::InstanceSpec& spec) {
    const double x = std::stod(spec.hyperparameters.at("x"));
    const double loss = (x - 0.3) * (x - 0.3);
    FakeProgram program{.losses = {loss + 1, loss + 0.5, loss}};
    if (scenario.fails) program.exit_code = 1;
    // Worse than all before it, and in no hurry.
    if (scenario.median_rule && spec.job_name.starts_with("search-004")) {
      program = {.trains = Seconds(100'000), .losses = {9, 9, 9}};
    }
    if (scenario.stopped && !spec.job_name.starts_with("search-001")) {
      program.trains = Seconds(100'000);
    }
    return program;
  });
}

// What was tried, in order.
std::vector<std::string> Tried(World& world) {
  std::vector<std::string> out;
  for (const model::TuningTrial& trial : world.Trials("search")) {
    std::string text = trial.training_job;
    for (const auto& [name, value] : trial.parameters) text += " " + name + "=" + value;
    out.push_back(std::move(text));
  }
  return out;
}

void RunToTheEnd(World& world, const Scenario& scenario) {
  SetPrograms(world, scenario);
  world.SubmitTuning("search", RequestFor(scenario));
  if (scenario.stopped) {
    EXPECT_TRUE(world.RunUntil([&] {
      const auto trials = world.Trials("search");
      return trials.size() > 1 &&
             world.Job(trials[1].training_job).phase == model::TrainingPhase::kTraining;
    }));
    world.EditTuning("search",
                     [&](model::TuningJob& job) { job.stop_requested = world.clock.Wall(); });
  }
  EXPECT_TRUE(world.RunUntilQuiet());
}

std::vector<std::string> Undisturbed(const Scenario& scenario) {
  World world;
  RunToTheEnd(world, scenario);
  return Tried(world);
}

void CheckEnd(World& world, const Scenario& scenario, const std::vector<std::string>& expected) {
  EXPECT_THAT(world.Violations(), IsEmpty());
  EXPECT_EQ(world.Tuning("search").phase, scenario.end) << world.Tuning("search").failure_reason;
  EXPECT_EQ(world.Trials("search").size(), expected.size()) << "exactly so many trials";
  if (scenario.parallel > 1) return;
  EXPECT_EQ(Tried(world), expected);
}

class TuningRestart : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {};

TEST_P(TuningRestart, AtEveryEffectChangesNothing) {
  const auto& [scenario, after] = GetParam();
  const std::vector<std::string> expected = Undisturbed(scenario);
  for (int effect = 0; effect < kEffectsMax; ++effect) {
    World world;
    world.faults.DieAt(effect, after);
    RunToTheEnd(world, scenario);
    SCOPED_TRACE(world.faults.where() + fmt::format(", effect {}", effect));
    CheckEnd(world, scenario, expected);
    if (HasFailure()) return;
    if (!world.faults.fired()) {
      EXPECT_GE(effect, 20) << "too few effects to mean anything";
      return;  // the run got past the last effect: every one is covered
    }
  }
  FAIL() << "effects never ran out";
}

const std::vector<Scenario> kScenarios = {
    {.name = "sequential"},
    {.name = "parallel", .trials = 6, .parallel = 3},
    {.name = "hyperband", .strategy = "Hyperband", .trials = 4, .parallel = 2},
    {.name = "early_stopping", .trials = 5, .median_rule = true},
    {.name = "stopped", .trials = 9, .parallel = 2, .stopped = true, .end = TuningPhase::kStopped},
    {.name = "failed", .trials = 9, .fails = true, .end = TuningPhase::kFailed},
};

INSTANTIATE_TEST_SUITE_P(Scenarios, TuningRestart,
                         ::testing::Combine(::testing::ValuesIn(kScenarios), ::testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param).name +
                                  (std::get<1>(test.param) ? "_after" : "_before");
                         });

// The daemon dies every few effects, some hundred times in all.
TEST(TuningRestarts, InALoopGiveExactlySoManyTrialsAndTheSameSuggestions) {
  const Scenario scenario{.name = "loop", .trials = 12};
  const std::vector<std::string> expected = Undisturbed(scenario);
  ASSERT_EQ(expected.size(), 12u);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    env::SeededRandom random(seed);
    World world;
    SetPrograms(world, scenario);
    world.SubmitTuning("search", RequestFor(scenario));
    EXPECT_TRUE(world.RunUntil([&] {
      if (!world.faults.armed()) {
        world.faults.DieAt(static_cast<int>(random.Below(12)), random.Below(2) == 0);
      }
      return model::IsTerminal(world.Tuning("search").phase);
    }));
    world.faults.Never();
    EXPECT_TRUE(world.RunUntilQuiet());
    CheckEnd(world, scenario, expected);
    EXPECT_GT(world.restarts(), 10);
  }
}

TEST(TuningRestarts, ResultsOfTrialsThatEndedWhileNobodyLookedAreRecordedInTheOrderOfTheirEnd) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    // The later it began, the sooner it ends.
    const int number = spec.job_name.at(std::string("search-00").size()) - '0';
    return FakeProgram{.trains = Millis(1000 - 200 * number), .losses = {1.0 * number}};
  });
  world.SubmitTuning("search", RequestFor({.trials = 3, .parallel = 3}));
  ASSERT_TRUE(world.RunUntil([&] {
    const auto trials = world.Trials("search");
    return trials.size() == 3 &&
           world.Job(trials[2].training_job).phase == model::TrainingPhase::kTraining;
  }));
  world.KillDaemon();
  for (int i = 0; i < 200; ++i) {
    world.clock.Advance(Millis(10));
    world.fleet.Tick();
  }
  world.StartDaemon();
  ASSERT_TRUE(world.RunUntilQuiet());
  std::vector<int> order;
  for (const model::TuningTrial& trial : world.Trials("search")) order.push_back(trial.finished);
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

}  // namespace
}  // namespace sabia::control
