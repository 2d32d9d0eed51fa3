// Goal: tuning jobs on the real controllers of training and of tuning jobs, over a fake machine.
#include "control/tuning_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>

#include "control/testing/world.h"
#include "tuning/testing/requests.h"

namespace sabia::control {
namespace {

using fleet::testing::FakeProgram;
using model::ObjectiveStatus;
using model::TrialResult;
using model::TuningEnd;
using model::TuningPhase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using testing::World;
using tuning::testing::ConfigIn;
using tuning::testing::DefinitionIn;
using tuning::testing::SmallRequest;

double NumberOf(const std::string& text) { return std::stod(text); }

// The loss is least at x = 0.3.
FakeProgram Bowl(const model::InstanceSpec& spec) {
  const double x = NumberOf(spec.hyperparameters.at("x"));
  return {.losses = {1.0, (x - 0.3) * (x - 0.3)}};
}

void Limit(json::object& request, int trials, int parallel) {
  ConfigIn(request)["ResourceLimits"] = {{"MaxNumberOfTrainingJobs", trials},
                                         {"MaxParallelTrainingJobs", parallel}};
}

std::vector<std::string> Suggestions(World& world) {
  std::vector<std::string> out;
  for (const model::TuningTrial& trial : world.Trials("search")) {
    std::string text;
    for (const auto& [name, value] : trial.parameters) text += name + "=" + value + " ";
    out.push_back(text + trial.training_job);
  }
  return out;
}

TEST(OwnerByName, ReadsTheTuningJobOfATrialsName) {
  EXPECT_EQ(OwnerByName("search-001-0123abcd"), "search");
  EXPECT_EQ(OwnerByName("my-search-750-0123abcd"), "my-search");
  EXPECT_EQ(OwnerByName("search-1000-0123abcd"), "search");
  for (const char* name : {"search", "search-01-0123abcd", "search-001-0123abcg", "-001-0123abcd",
                           "search-0a1-0123abcd", "search001-0123abcd", ""}) {
    EXPECT_EQ(OwnerByName(name), std::nullopt) << name;
  }
}

TEST(TuningController, RunsAllTrialsAndFindsTheBest) {
  World world;
  world.fleet.ChooseProgram(Bowl);
  world.facts.tags["arn:aws:sagemaker:us-west-2:123456789012:hyper-parameter-tuning-job/search"] = {
      {"team", "a"}};
  store::Tags tags;
  world.records.OnChange([&](const store::Change& change, const store::Resource*) {
    if (change.resource.kind == store::Kind::kTrainingJob && !change.tags.empty())
      tags = change.tags;
  });
  json::object request = SmallRequest();
  Limit(request, 12, 1);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Violations(), IsEmpty());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kCompleted);
  EXPECT_EQ(job.end, TuningEnd::kTrialsUsed);
  EXPECT_EQ(job.trials.completed, 12);
  EXPECT_EQ(job.objectives.succeeded, 12);
  ASSERT_TRUE(job.best);
  EXPECT_LT(job.best->value, 0.01);
  EXPECT_EQ(job.best->metric, "loss");
  EXPECT_FALSE(job.overall_best);
  const auto trials = world.Trials("search");
  for (const model::TuningTrial& trial : trials) {
    EXPECT_EQ(trial.result, TrialResult::kCompleted);
    EXPECT_EQ(trial.objective_status, ObjectiveStatus::kSucceeded);
    EXPECT_GE(*trial.objective, job.best->value);
    EXPECT_EQ(trial.finished, trial.number) << "one after the other";
    EXPECT_EQ(trial.known, trial.number - 1);
    EXPECT_NE(trial.reason, "");
    EXPECT_GT(trial.seconds, 0);
  }
  const model::TrainingJob training = world.Job(trials[0].training_job);
  EXPECT_EQ(training.tuning_job_arn, job.arn);
  EXPECT_EQ(training.request.get().at("HyperParameters").at("_tuning_objective_metric"), "loss");
  EXPECT_EQ(world.records.Get(store::Kind::kTrainingJob, training.name)->parent, "search");
  EXPECT_EQ(tags, (store::Tags{{"team", "a"}}));
}

TEST(TuningController, RunsSoManyAtOnceAndNoMore) {
  World world;
  world.fleet.ChooseProgram(Bowl);
  json::object request = SmallRequest();
  Limit(request, 9, 3);
  world.SubmitTuning("search", request);
  std::size_t most = 0;
  ASSERT_TRUE(world.RunUntil([&] {
    std::size_t running = 0;
    for (const auto& trial : world.Trials("search")) running += trial.ended() ? 0 : 1;
    most = std::max(most, running);
    EXPECT_EQ(world.Tuning("search").trials.in_progress, static_cast<int>(running));
    return model::IsTerminal(world.Tuning("search").phase);
  }));
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(most, 3u);
  EXPECT_EQ(world.Tuning("search").trials.completed, 9);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, TheSameSeedGivesTheSameSuggestions) {
  std::vector<std::vector<std::string>> runs;
  for (const int seed : {1, 1, 2}) {
    World world;
    world.fleet.ChooseProgram(Bowl);
    json::object request = SmallRequest();
    Limit(request, 8, 1);
    world.SubmitTuning("search", request, seed);
    ASSERT_TRUE(world.RunUntilQuiet());
    runs.push_back(Suggestions(world));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(TuningController, AStopEndsTheTrainingJobsAndKeepsTheBest) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    FakeProgram program = Bowl(spec);
    if (spec.job_name.starts_with("search-003")) program.trains = Seconds(100'000);
    if (spec.job_name.starts_with("search-004")) program.trains = Seconds(100'000);
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 100, 2);
  world.SubmitTuning("search", request);
  const auto hangs = [&] {
    const auto trials = world.Trials("search");
    return trials.size() == 4 && trials[0].ended() && trials[1].ended() &&
           world.Job(trials[2].training_job).phase == model::TrainingPhase::kTraining &&
           world.Job(trials[3].training_job).phase == model::TrainingPhase::kTraining;
  };
  ASSERT_TRUE(world.RunUntil(hangs));
  world.EditTuning("search",
                   [&](model::TuningJob& job) { job.stop_requested = world.clock.Wall(); });
  world.Turn();
  EXPECT_EQ(model::PrimaryStatus(world.Tuning("search").phase), "Stopping");
  ASSERT_TRUE(world.RunUntilQuiet());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kStopped);
  EXPECT_EQ(job.trials.completed, 2);
  EXPECT_EQ(job.trials.stopped, 2);
  EXPECT_EQ(job.objectives.succeeded, 4) << "a stopped job's metric counts";
  EXPECT_TRUE(job.best);
  EXPECT_EQ(world.Trials("search")[2].stop, model::TrialStop::kSearchOver);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, FailsAfterFiveAttemptsAndSaysWhyTheFirstFailed) {
  World world;
  world.fleet.ChooseProgram(
      [](const model::InstanceSpec&) { return FakeProgram{.exit_code = 3, .losses = {}}; });
  json::object request = SmallRequest();
  Limit(request, 20, 1);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kFailed);
  EXPECT_EQ(job.trials.non_retryable_error, 5);
  EXPECT_THAT(job.failure_reason,
              HasSubstr("No training job succeeded after 5 attempts. Please take a look at the "
                        "training job failures to get more details. The first, search-001-"));
  EXPECT_THAT(job.failure_reason, HasSubstr("AlgorithmError"));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, SaysWhenAllOfAFewTrialsFailed) {
  World world;
  world.fleet.ChooseProgram(
      [](const model::InstanceSpec&) { return FakeProgram{.exit_code = 3, .losses = {}}; });
  json::object request = SmallRequest();
  Limit(request, 2, 2);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kFailed);
  EXPECT_THAT(world.Tuning("search").failure_reason, HasSubstr("All training jobs failed."));
}

TEST(TuningController, TellsProgramsThatEmitNoMetricFromThoseThatFail) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec&) { return FakeProgram{.losses = {}}; });
  json::object request = SmallRequest();
  Limit(request, 20, 1);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kFailed);
  EXPECT_THAT(world.Tuning("search").failure_reason, HasSubstr("No objective metrics found"));
  EXPECT_THAT(world.Trials("search")[0].failure, HasSubstr("the objective metric 'loss'"));
  EXPECT_EQ(world.Trials("search")[0].objective_status, ObjectiveStatus::kFailed);
}

TEST(TuningController, OneSuccessIsEnoughToGoOn) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    FakeProgram program = Bowl(spec);
    if (!spec.job_name.starts_with("search-002")) program.exit_code = 1;
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 10, 1);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kCompleted);
  EXPECT_EQ(job.trials.non_retryable_error, 9);
  EXPECT_THAT(job.best->training_job, HasSubstr("search-002-"));
}

TEST(TuningController, ATargetEndsTheSearchAndStopsWhatStillRuns) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    FakeProgram program{.trains = Seconds(100'000), .losses = {5}};
    if (spec.job_name.starts_with("search-002")) program = {.losses = {0.01}};
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 20, 3);
  ConfigIn(request)["TuningJobCompletionCriteria"] = {{"TargetObjectiveMetricValue", 0.05}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kCompleted);
  EXPECT_EQ(job.end, TuningEnd::kTargetReached);
  EXPECT_THAT(job.end_note, HasSubstr("search-002-"));
  EXPECT_EQ(job.Created(), 3) << "no trial after the one that reached it";
  EXPECT_EQ(job.trials.stopped, 2);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, EndsWhenNothingImproves) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec&) { return FakeProgram{}; });
  json::object request = SmallRequest();
  Limit(request, 50, 1);
  ConfigIn(request)["TuningJobCompletionCriteria"] = {
      {"BestObjectiveNotImproving", {{"MaxNumberOfTrainingJobsNotImproving", 4}}}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").end, TuningEnd::kNotImproving);
  EXPECT_EQ(world.Tuning("search").Created(), 5) << "one best, four that are no better";
  EXPECT_EQ(world.Tuning("search").not_improving, 4);
}

TEST(TuningController, EndsWhenItConverges) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    FakeProgram program = Bowl(spec);
    program.losses = {std::round(program.losses.back() * 100)};
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 100, 1);
  ConfigIn(request)["Strategy"] = "Random";
  ConfigIn(request)["TuningJobCompletionCriteria"] = {
      {"ConvergenceDetected", {{"CompleteOnConvergence", "Enabled"}}}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").end, TuningEnd::kConverged);
  EXPECT_TRUE(world.Tuning("search").converged);
  EXPECT_LT(world.Tuning("search").Created(), 100);
}

TEST(TuningController, TheRunTimeEndsTheSearchOnTime) {
  World world;
  world.fleet.ChooseProgram(
      [](const model::InstanceSpec&) { return FakeProgram{.trains = Seconds(100'000)}; });
  json::object request = SmallRequest();
  ConfigIn(request)["ResourceLimits"] = {{"MaxParallelTrainingJobs", 2},
                                         {"MaxRuntimeInSeconds", 120}};
  world.SubmitTuning("search", request);
  const WallTime begin = world.clock.Wall();
  ASSERT_TRUE(world.RunUntilQuiet());
  const model::TuningJob job = world.Tuning("search");
  EXPECT_EQ(job.phase, TuningPhase::kCompleted);
  EXPECT_EQ(job.end, TuningEnd::kMaxRuntime);
  EXPECT_EQ(job.Created(), 2);
  EXPECT_GE(*job.ended - begin, Seconds(120));
  EXPECT_LT(*job.ended - begin, Seconds(125));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, AGridIsTriedOnceEach) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec&) { return FakeProgram{}; });
  json::object request = SmallRequest();
  ConfigIn(request)["Strategy"] = "Grid";
  ConfigIn(request)["ParameterRanges"] = {
      {"CategoricalParameterRanges", json::array{tuning::testing::Category("a", {"1", "2", "3"}),
                                                 tuning::testing::Category("b", {"\"x\"", "y"})}}};
  ConfigIn(request)["ResourceLimits"] = {{"MaxParallelTrainingJobs", 4}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  std::vector<std::string> tried;
  for (const model::TuningTrial& trial : world.Trials("search")) {
    const model::TrainingJob training = world.Job(trial.training_job);
    const json::object& given = *FindObject(training.request, "HyperParameters");
    tried.push_back(GetString(given, "a") + GetString(given, "b"));
  }
  EXPECT_THAT(tried, UnorderedElementsAre("1\"x\"", "1y", "2\"x\"", "2y", "3\"x\"", "3y"))
      << "categories byte for byte";
}

TEST(TuningController, AnExhaustedSpaceEndsTheSearch) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec&) { return FakeProgram{}; });
  json::object request = SmallRequest();
  Limit(request, 50, 2);
  ConfigIn(request)["ParameterRanges"] = {
      {"CategoricalParameterRanges", json::array{tuning::testing::Category("a", {"1", "2", "3"})}}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kCompleted);
  EXPECT_EQ(world.Tuning("search").end, TuningEnd::kSpaceExhausted);
  EXPECT_EQ(world.Tuning("search").Created(), 3);
}

TEST(TuningController, TheMedianRuleStopsAWorseTrialAndKeepsItsObjective) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    if (spec.job_name.starts_with("search-004")) {
      return FakeProgram{.trains = Seconds(100'000), .losses = {0.1, 0.9, 0.9}};
    }
    return FakeProgram{.losses = {0.5, 0.4, 0.3}};
  });
  json::object request = SmallRequest();
  Limit(request, 5, 1);
  ConfigIn(request)["TrainingJobEarlyStoppingType"] = "Auto";
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  const auto trials = world.Trials("search");
  ASSERT_THAT(trials, SizeIs(5));
  EXPECT_EQ(trials[3].stop, model::TrialStop::kMedianRule);
  EXPECT_THAT(trials[3].stop_note, HasSubstr("at epoch 2 is worse than the median 0.45"));
  EXPECT_EQ(trials[3].result, TrialResult::kStopped);
  EXPECT_EQ(trials[3].objective_status, ObjectiveStatus::kSucceeded);
  EXPECT_EQ(trials[3].objective, 0.9);
  EXPECT_THAT(trials[3].curve, SizeIs(3));
  EXPECT_EQ(trials[2].stop, model::TrialStop::kNone);
  EXPECT_EQ(world.Tuning("search").trials.stopped, 1);
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kCompleted);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, HyperbandStopsMostTrialsBeforeTheirLastEpoch) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    const double loss = Bowl(spec).losses.back();
    // It trains for ever, and has told all about it: only a rung ends it.
    FakeProgram program{.trains = Seconds(100'000), .losses = {}};
    for (int epoch = 0; epoch < 30; ++epoch) program.losses.push_back(loss + 1.0 / (1 + epoch));
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 30, 2);
  ConfigIn(request)["Strategy"] = "Hyperband";
  ConfigIn(request)["StrategyConfig"] = {
      {"HyperbandStrategyConfig", {{"MinResource", 1}, {"MaxResource", 27}}}};
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  int at_rungs = 0;
  for (const model::TuningTrial& trial : world.Trials("search")) {
    EXPECT_EQ(trial.stop, model::TrialStop::kHyperband);
    at_rungs += trial.stop_note.starts_with("not among the best") ? 1 : 0;
  }
  EXPECT_GT(at_rungs, 5);
  EXPECT_LT(at_rungs, 30) << "the others reach MaxResource";
  EXPECT_EQ(world.Tuning("search").trials.stopped, 30);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TuningController, DefinitionsShareTheTrialsAndSearchTheirOwnSpaces) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    return FakeProgram{.losses = {spec.hyperparameters.contains("y") ? 0.2 : 0.4}};
  });
  json::object request = SmallRequest();
  json::object first = DefinitionIn(request);
  request.erase("TrainingJobDefinition");
  first["DefinitionName"] = "first";
  first["TuningObjective"] = ConfigIn(request)["HyperParameterTuningJobObjective"];
  first["HyperParameterRanges"] = ConfigIn(request)["ParameterRanges"];
  json::object second = first;
  second["DefinitionName"] = "second";
  second["HyperParameterRanges"] = {
      {"CategoricalParameterRanges", json::array{tuning::testing::Category("y", {"a", "b"})}}};
  request["TrainingJobDefinitions"] = json::array{first, second};
  Limit(request, 8, 2);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  int of_second = 0;
  for (const model::TuningTrial& trial : world.Trials("search")) {
    EXPECT_EQ(trial.parameters.size(), trial.definition == "second" ? 1u : 2u);
    of_second += trial.definition == "second" ? 1 : 0;
  }
  EXPECT_EQ(of_second, 2) << "it has two configurations; the first definition gets the rest";
  EXPECT_EQ(world.Tuning("search").best->definition, "second");
  EXPECT_EQ(world.Tuning("search").Created(), 8);
}

TEST(TuningController, StartsFromTheTrialsOfParents) {
  for (const char* type : {"IdenticalDataAndAlgorithm", "TransferLearning"}) {
    World world;
    world.fleet.ChooseProgram(Bowl);
    json::object request = SmallRequest();
    Limit(request, 15, 1);
    world.SubmitTuning("parent", request);
    ASSERT_TRUE(world.RunUntilQuiet());
    const auto parent_best = world.Tuning("parent").best;
    request["WarmStartConfig"] = {
        {"ParentHyperParameterTuningJobs",
         json::array{json::object{{"HyperParameterTuningJobName", "parent"}}}},
        {"WarmStartType", type}};
    Limit(request, 3, 1);
    world.SubmitTuning("search", request);
    ASSERT_TRUE(world.RunUntilQuiet());
    const model::TuningJob job = world.Tuning("search");
    EXPECT_EQ(job.phase, TuningPhase::kCompleted);
    EXPECT_LT(job.best->value, 0.02) << "it knows where to look";
    const bool identical = std::string_view(type) == "IdenticalDataAndAlgorithm";
    ASSERT_EQ(job.overall_best.has_value(), identical);
    if (identical) {
      EXPECT_EQ(job.overall_best->value, std::min(job.best->value, parent_best->value));
      EXPECT_EQ(job.overall_best->tuning_job,
                parent_best->value <= job.best->value ? "parent" : "search");
    }
  }
}

TEST(TuningController, WaitsForAnInterruptedSpotTrial) {
  World world;
  world.fleet.ChooseProgram([](const model::InstanceSpec& spec) {
    FakeProgram program = Bowl(spec);
    program.trains = Seconds(1);
    return program;
  });
  json::object request = SmallRequest();
  Limit(request, 2, 1);
  DefinitionIn(request)["EnableManagedSpotTraining"] = true;
  world.SubmitTuning("search", request);
  std::string first;
  ASSERT_TRUE(world.RunUntil([&] {
    const auto trials = world.Trials("search");
    if (trials.empty()) return false;
    first = trials[0].training_job;
    return world.Job(first).phase == model::TrainingPhase::kTraining;
  }));
  world.Edit(first, [](model::TrainingJob& job) { job.interrupt_attempt = 1; });
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Job(first).attempts, SizeIs(2));
  EXPECT_EQ(world.Tuning("search").trials.completed, 2) << "an interruption is no failure";
  EXPECT_EQ(world.Tuning("search").Created(), 2);
}

TEST(TuningController, ATrainingJobThatAUserStoppedOrDeletedIsNoRiddle) {
  World world;
  world.fleet.ChooseProgram(
      [](const model::InstanceSpec&) { return FakeProgram{.trains = Seconds(100'000)}; });
  json::object request = SmallRequest();
  Limit(request, 2, 2);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntil([&] {
    const auto trials = world.Trials("search");
    return trials.size() == 2 &&
           world.Job(trials[1].training_job).phase == model::TrainingPhase::kTraining;
  }));
  const auto trials = world.Trials("search");
  for (const auto& trial : trials) {
    world.Edit(trial.training_job,
               [&](model::TrainingJob& job) { job.stop_requested = world.clock.Wall(); });
  }
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").trials.stopped, 2);
  EXPECT_EQ(world.Trials("search")[0].stop, model::TrialStop::kNone) << "not the search's doing";
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kCompleted);
}

TEST(TuningController, TakesAnotherNameWhenOneIsTaken) {
  World world;
  world.fleet.ChooseProgram(Bowl);
  model::TuningJob job;
  job.uid = "000000000002";  // the second submission
  job.name = "search";
  world.fleet.SetProgram(model::TrialName(job, 1, 0), {});
  world.Submit(model::TrialName(job, 1, 0));
  json::object request = SmallRequest();
  Limit(request, 2, 1);
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntil([&] { return model::IsTerminal(world.Tuning("search").phase); }));
  EXPECT_EQ(world.Trials("search")[0].training_job, model::TrialName(job, 1, 1));
  EXPECT_EQ(world.Trials("search")[1].training_job, model::TrialName(job, 2, 0));
}

TEST(TuningController, ARequestThatCannotBeSearchedAnyMoreFailsTheJob) {
  World world;
  json::object request = SmallRequest();
  ConfigIn(request).erase("ParameterRanges");
  world.SubmitTuning("search", request);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Tuning("search").phase, TuningPhase::kFailed);
  EXPECT_THAT(world.Tuning("search").failure_reason, HasSubstr("InternalServerError"));
}

}  // namespace
}  // namespace sabia::control
