#include "tuning/tuning_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tuner/rng.h"
#include "tuning/testing/requests.h"
#include "tuning/trial_results.h"

namespace sabia::tuning {
namespace {

using model::TrainingPhase;
using model::TuningEnd;
using model::TuningPhase;
using testing::ConfigIn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::SmallRequest;

WallTime At(std::int64_t seconds) { return FromUnixMillis(1'700'000'000'000 + seconds * 1000); }

Search SearchFor(const json::object& request, std::int64_t seed = 1) {
  auto settings = ReadSettings(model::InstanceCatalog::BuiltIn(), request);
  EXPECT_TRUE(settings) << settings.error().message;
  auto search = Search::Create(std::move(*settings), seed, {});
  EXPECT_TRUE(search) << search.error().message;
  return std::move(*search);
}

TuningSnapshot SnapshotOf(json::object request) {
  TuningSnapshot seen;
  seen.job.uid = "0123456789ab";
  seen.job.name = "search";
  seen.job.arn = model::TuningJobArn("us-west-2", "123456789012", "search");
  seen.job.created = seen.job.modified = seen.now = At(0);
  seen.job.request = std::move(request);
  return seen;
}

json::object RandomRequest(int trials, int parallel) {
  json::object request = SmallRequest();
  ConfigIn(request)["Strategy"] = "Random";
  ConfigIn(request)["ResourceLimits"] = {{"MaxNumberOfTrainingJobs", trials},
                                         {"MaxParallelTrainingJobs", parallel}};
  return request;
}

// What the controller does with a step.
void Apply(TuningSnapshot& seen, const TuningStep& step) {
  seen.job = step.job;
  for (const model::TuningTrial& trial : step.changed) {
    seen.trials[static_cast<std::size_t>(trial.number) - 1].trial = trial;
  }
  for (const std::string& name : step.stopped) {
    for (TrialView& view : seen.trials) {
      if (view.trial.training_job == name) view.training->stop_requested = true;
    }
  }
  if (step.created) {
    seen.trials.push_back({.trial = step.created->trial, .training = TrainingView{}});
  }
}

// Steps until there are none.
void Settle(TuningSnapshot& seen, Search& search) {
  for (int i = 0; i < 100; ++i) {
    const auto step = NextStep(seen, &search);
    if (!step) return;
    Apply(seen, *step);
  }
  FAIL() << "the planner does not settle";
}

void End(TrialView& view, TrainingPhase phase, std::optional<double> objective,
         std::int64_t second) {
  view.training->phase = phase;
  view.training->objective = objective;
  view.training->ended = At(second);
  if (phase == TrainingPhase::kFailed) view.training->failure_reason = "AlgorithmError: it broke";
}

TEST(NextStep, CreatesATrialWithItsTrainingJobInOneStep) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(4, 1));
  Search search = SearchFor(seen.job.request);
  const auto step = NextStep(seen, &search);
  ASSERT_TRUE(step && step->created);
  const NewTrial& made = *step->created;
  EXPECT_EQ(made.trial.training_job, model::TrialName(seen.job, 1, 0));
  EXPECT_EQ(made.training.name, made.trial.training_job);
  EXPECT_EQ(made.training.uid, model::TrialUid(seen.job, 1, 0));
  EXPECT_EQ(made.training.tuning_job_arn, seen.job.arn);
  EXPECT_THAT(made.trial.parameters, SizeIs(2));
  EXPECT_EQ(step->job.trials.in_progress, 1);
  EXPECT_EQ(step->job.objectives.pending, 1);
  const auto again = NextStep(seen, &search);
  EXPECT_EQ(again->created->trial.ToJson(), made.trial.ToJson()) << "asking twice is asking once";
  EXPECT_EQ(again->created->training.ToJson(), made.training.ToJson());
}

TEST(NextStep, RecordsResultsInTheOrderOfTheirEndAndTellsTheBest) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(9, 3));
  Search search = SearchFor(seen.job.request);
  Settle(seen, search);
  ASSERT_THAT(seen.trials, SizeIs(3));
  End(seen.trials[0], TrainingPhase::kCompleted, 0.5, 9);
  End(seen.trials[1], TrainingPhase::kStopped, 0.25, 3);
  End(seen.trials[2], TrainingPhase::kFailed, 0.125, 6);
  const auto step = NextStep(seen, &search);
  ASSERT_TRUE(step);
  ASSERT_THAT(step->changed, SizeIs(3));
  EXPECT_EQ(step->changed[0].number, 2);
  EXPECT_EQ(step->changed[1].number, 3);
  EXPECT_EQ(step->changed[2].number, 1);
  EXPECT_EQ(step->job.trials.completed, 1);
  EXPECT_EQ(step->job.trials.stopped, 1);
  EXPECT_EQ(step->job.trials.non_retryable_error, 1);
  EXPECT_EQ(step->job.objectives.succeeded, 2);
  EXPECT_EQ(step->job.objectives.failed, 1);
  EXPECT_EQ(step->job.best->value, 0.25) << "a stopped job counts, a failed one does not";
  EXPECT_EQ(step->changed[1].failure, "AlgorithmError: it broke");
}

TEST(NextStep, CountsAnInternalErrorAsRetryable) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(2, 1));
  Search search = SearchFor(seen.job.request);
  Settle(seen, search);
  End(seen.trials[0], TrainingPhase::kFailed, {}, 1);
  seen.trials[0].training->failure_is_ours = true;
  EXPECT_EQ(NextStep(seen, &search)->job.trials.retryable_error, 1);
}

TEST(NextStep, ATrainingJobThatIsGoneIsAFailure) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(2, 1));
  Search search = SearchFor(seen.job.request);
  Settle(seen, search);
  seen.trials[0].training.reset();
  const auto step = NextStep(seen, &search);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->job.trials.non_retryable_error, 1);
  EXPECT_THAT(step->changed[0].failure, HasSubstr("deleted"));
}

TEST(NextStep, AnObjectiveThatIsNoNumberIsNone) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(2, 1));
  Search search = SearchFor(seen.job.request);
  Settle(seen, search);
  End(seen.trials[0], TrainingPhase::kCompleted, std::nan(""), 1);
  const auto step = NextStep(seen, &search);
  EXPECT_FALSE(step->changed[0].objective);
  EXPECT_EQ(step->job.objectives.failed, 1);
}

TEST(NextStep, AStopWhileItFinishesIsAStop) {
  json::object request = RandomRequest(20, 2);
  ConfigIn(request)["TuningJobCompletionCriteria"] = {{"TargetObjectiveMetricValue", 0.5}};
  TuningSnapshot seen = SnapshotOf(request);
  Search search = SearchFor(request);
  Settle(seen, search);
  End(seen.trials[0], TrainingPhase::kCompleted, 0.25, 1);
  Settle(seen, search);
  EXPECT_EQ(seen.job.phase, TuningPhase::kFinishing);
  EXPECT_EQ(seen.job.end, TuningEnd::kTargetReached);
  EXPECT_TRUE(seen.trials[1].training->stop_requested);
  seen.job.stop_requested = At(2);
  Settle(seen, search);
  EXPECT_EQ(seen.job.phase, TuningPhase::kStopping);
  End(seen.trials[1], TrainingPhase::kStopped, {}, 3);
  Settle(seen, search);
  EXPECT_EQ(seen.job.phase, TuningPhase::kStopped);
  EXPECT_EQ(seen.job.ended, seen.now);
  EXPECT_FALSE(NextStep(seen, &search));
  EXPECT_EQ(NextDue(seen, &search), std::nullopt);
}

TEST(NextStep, AJobThatIsBrokenEndsWithoutOrphans) {
  TuningSnapshot seen = SnapshotOf(RandomRequest(4, 1));
  Search search = SearchFor(seen.job.request);
  Settle(seen, search);
  seen.broken = "no such scale";
  const auto failing = NextStep(seen, nullptr);
  ASSERT_TRUE(failing);
  Apply(seen, *failing);
  EXPECT_EQ(seen.job.phase, TuningPhase::kFailing);
  EXPECT_THAT(seen.job.failure_reason, HasSubstr("no such scale"));
  const auto stops = NextStep(seen, nullptr);
  ASSERT_TRUE(stops);
  EXPECT_THAT(stops->stopped, SizeIs(1));
  Apply(seen, *stops);
  EXPECT_FALSE(NextStep(seen, nullptr)) << "it waits";
  End(seen.trials[0], TrainingPhase::kStopped, {}, 3);
  Apply(seen, *NextStep(seen, nullptr));
  Apply(seen, *NextStep(seen, nullptr));
  EXPECT_EQ(seen.job.phase, TuningPhase::kFailed);
}

TEST(NextDue, AsksForCurvesEverySecondAndAtTheEndOfTheRunTime) {
  json::object request = RandomRequest(4, 1);
  TuningSnapshot seen = SnapshotOf(request);
  Search plain = SearchFor(request);
  Settle(seen, plain);
  seen.observed = seen.now;
  EXPECT_GT(*NextDue(seen, &plain), seen.now + Seconds(5));
  ConfigIn(request)["TrainingJobEarlyStoppingType"] = "Auto";
  Search watching = SearchFor(request);
  EXPECT_EQ(NextDue(seen, &watching), seen.now + Seconds(1));
  ConfigIn(request)["ResourceLimits"].as_object()["MaxRuntimeInSeconds"] = 120;
  Search limited = SearchFor(request);
  seen.now = seen.observed = seen.job.created + Millis(119'500);
  EXPECT_EQ(NextDue(seen, &limited), seen.job.created + Seconds(120));
}

TEST(Thinned, KeepsTheEndsOfALongCurve) {
  std::vector<model::TrialMeasurement> curve;
  for (int i = 1; i <= 20'000; ++i) curve.push_back({i, 1.0 / i});
  const auto thin = Thinned(curve);
  EXPECT_LE(thin.size(), model::kCurvePointsMax);
  EXPECT_GE(thin.size(), model::kCurvePointsMax / 2);
  EXPECT_EQ(thin.front().resource, 1);
  EXPECT_EQ(thin.back().resource, 20'000);
  EXPECT_THAT(Thinned({{1, 0.5}}), SizeIs(1));
}

TEST(FirstBytes, CutsBetweenCharacters) {
  EXPECT_EQ(FirstBytes("abc", 5), "abc");
  EXPECT_EQ(FirstBytes("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(FirstBytes("a\xc3\xa9z", 3), "a\xc3\xa9");
}

// Anything may happen to training jobs, at any time.
void Disturb(TuningSnapshot& seen, tuner::Rng& rng) {
  for (TrialView& view : seen.trials) {
    if (view.trial.ended() || !view.training) continue;
    if (view.training->stop_requested && rng.Uniform() < 0.5) {
      End(view, TrainingPhase::kStopped,
          rng.Uniform() < 0.5 ? std::optional(rng.Uniform()) : std::nullopt, 1);
      continue;
    }
    const double luck = rng.Uniform();
    if (luck < 0.1) End(view, TrainingPhase::kCompleted, rng.Uniform(), 1);
    if (luck > 0.1 && luck < 0.15) End(view, TrainingPhase::kFailed, {}, 1);
    if (luck > 0.15 && luck < 0.17) End(view, TrainingPhase::kStopped, {}, 1);
    if (luck > 0.17 && luck < 0.18) view.training.reset();
    if (luck > 0.2 && luck < 0.5) {
      auto& curve = view.training->curve;
      curve.push_back({static_cast<std::int64_t>(curve.size()) + 1, rng.Uniform()});
    }
  }
  if (rng.Uniform() < 0.005) seen.job.stop_requested = seen.now;
}

json::object RequestOf(tuner::Rng& rng) {
  json::object request = RandomRequest(1 + static_cast<int>(rng.Uniform() * 20),
                                       1 + static_cast<int>(rng.Uniform() * 5));
  const double kind = rng.Uniform();
  if (kind < 0.3) ConfigIn(request)["Strategy"] = "Hyperband";
  if (kind > 0.6) ConfigIn(request)["TrainingJobEarlyStoppingType"] = "Auto";
  if (rng.Uniform() < 0.3) {
    ConfigIn(request)["TuningJobCompletionCriteria"] = {{"TargetObjectiveMetricValue", 0.05}};
  }
  if (rng.Uniform() < 0.3) {
    ConfigIn(request)["ResourceLimits"].as_object()["MaxRuntimeInSeconds"] = 120;
  }
  return request;
}

void CheckCounters(const TuningSnapshot& seen, const Settings& settings) {
  const auto running =
      std::ranges::count_if(seen.trials, [](const TrialView& view) { return !view.trial.ended(); });
  EXPECT_EQ(seen.job.Created(), static_cast<int>(seen.trials.size()));
  EXPECT_EQ(seen.job.trials.in_progress, running);
  EXPECT_EQ(seen.job.objectives.pending, running);
  EXPECT_LE(running, settings.parallel_max);
  EXPECT_LE(seen.job.Created(), settings.trials_max);
  if (!model::IsTerminal(seen.job.phase)) return;
  EXPECT_EQ(running, 0) << "no orphans";
}

TEST(NextStep, EveryWorldComesToAnEndWithinItsLimits) {
  constexpr int kWorlds = 150;
  constexpr int kRoundsMax = 20'000;
  for (std::uint64_t world = 1; world <= kWorlds; ++world) {
    SCOPED_TRACE(world);
    tuner::Rng rng(world, tuner::Stream{1});
    const json::object request = RequestOf(rng);
    TuningSnapshot seen = SnapshotOf(request);
    Search search = SearchFor(request, static_cast<std::int64_t>(world));
    int rounds = 0;
    for (; rounds < kRoundsMax && !model::IsTerminal(seen.job.phase); ++rounds) {
      Settle(seen, search);
      CheckCounters(seen, search.settings());
      Disturb(seen, rng);
      seen.now += Seconds(1);
      if (HasFailure()) return;
    }
    ASSERT_LT(rounds, kRoundsMax);
    EXPECT_NE(seen.job.end, TuningEnd::kNone);
    EXPECT_EQ(seen.job.phase == TuningPhase::kFailed, !seen.job.failure_reason.empty());
    EXPECT_TRUE(seen.job.ended);
  }
}

}  // namespace
}  // namespace sabia::tuning
