#include "tuning/tuning_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "model/limits.h"
#include "model/training_request.h"
#include "tuner/completion.h"
#include "tuning/trial_results.h"

namespace sabia::tuning {
namespace {

using model::TuningEnd;
using model::TuningPhase;

// How often curves are read, and jobs without them looked at.
constexpr Millis kCurveInterval{1'000};
constexpr Millis kSweepInterval{10'000};

int Running(const TuningSnapshot& seen) {
  return static_cast<int>(std::ranges::count_if(
      seen.trials, [](const TrialView& view) { return !view.trial.ended(); }));
}

TuningStep StepFrom(const TuningSnapshot& seen) {
  TuningStep step;
  step.job = seen.job;
  step.job.modified = std::max(step.job.modified, seen.now);
  return step;
}

void Advance(model::TuningJob& job, TuningPhase to) {
  CHECK_MSG(model::IsLegal(model::kTuningEdges, job.phase, to),
            fmt::format("{} → {}", Name(job.phase), Name(to)));
  job.phase = to;
}

struct Ending {
  TuningEnd end = TuningEnd::kNone;
  std::string note;
  std::string failure = {};  // the job fails of it
};

// AWS's sentences, and what it is really about.
std::string NothingSucceeded(const TuningSnapshot& seen, bool all) {
  const model::TuningTrial* first = nullptr;
  bool completed = false;
  for (const TrialView& view : seen.trials) {
    const model::TuningTrial& trial = view.trial;
    completed |= trial.result == model::TrialResult::kCompleted;
    if (!trial.ended() || trial.result == model::TrialResult::kStopped) continue;
    if (first == nullptr || trial.finished < first->finished) first = &trial;
  }
  std::string text =
      all ? "All training jobs failed. Please take a look at the training job failures to get more "
            "details."
          : fmt::format(
                "No training job succeeded after {} attempts. Please take a look at the "
                "training job failures to get more details.",
                kFailedTrialsMax);
  if (completed) {
    text = fmt::format(
        "No objective metrics found after running {} training jobs. Please ensure that the custom "
        "algorithm is emitting the objective metric as defined by the regular expression provided.",
        seen.job.objectives.failed);
  }
  if (first != nullptr) {
    text += fmt::format(" The first, {}: {}", first->training_job, first->failure);
  }
  return FirstBytes(std::move(text), model::kFailureReasonCharsMax);
}

bool NothingSucceeds(const TuningSnapshot& seen, int attempts) {
  if (seen.job.objectives.succeeded > 0) return false;
  const auto failed = std::ranges::count_if(seen.trials, [](const TrialView& view) {
    return view.trial.ended() && view.trial.result != model::TrialResult::kStopped;
  });
  return failed >= attempts;
}

// TargetObjectiveMetricValue, BestObjectiveNotImproving, ConvergenceDetected.
Ending CriterionMet(const TuningSnapshot& seen, const Settings& settings) {
  const std::vector<tuner::Trial> outcomes = Outcomes(seen.trials);
  if (settings.target && tuner::TargetReached(outcomes, settings.goal(), *settings.target)) {
    return {TuningEnd::kTargetReached,
            fmt::format("target {} reached by {}", *settings.target, seen.job.best->training_job)};
  }
  if (settings.not_improving_max && seen.job.not_improving >= *settings.not_improving_max) {
    return {TuningEnd::kNotImproving,
            fmt::format("{} training jobs in a row did not improve the best objective by 1 %",
                        seen.job.not_improving)};
  }
  if (settings.complete_on_convergence && seen.job.converged) {
    return {TuningEnd::kConverged, fmt::format("converged after {} trials", outcomes.size())};
  }
  return {};
}

Ending EndOf(const TuningSnapshot& seen, const Settings& settings) {
  if (seen.job.stop_requested) return {TuningEnd::kRequested, "stopped by request"};
  if (NothingSucceeds(seen, kFailedTrialsMax)) {
    return {TuningEnd::kNothingSucceeds, "", NothingSucceeded(seen, false)};
  }
  if (Ending met = CriterionMet(seen, settings); met.end != TuningEnd::kNone) return met;
  if (settings.runtime_max && seen.now >= seen.job.created + *settings.runtime_max) {
    return {TuningEnd::kMaxRuntime,
            fmt::format("MaxRuntimeInSeconds {} is over", settings.runtime_max->count())};
  }
  if (seen.job.Created() < settings.trials_max || Running(seen) > 0) return {};
  return {TuningEnd::kTrialsUsed,
          fmt::format("all {} training jobs have ended", seen.job.Created())};
}

// Of a search that is used up: with nothing to show for it, it has failed.
Ending UsedUp(const TuningSnapshot& seen, Ending end) {
  const bool all = NothingSucceeds(seen, std::max(1, seen.job.Created()));
  if (all) end = {TuningEnd::kNothingSucceeds, "", NothingSucceeded(seen, true)};
  return end;
}

TuningPhase PhaseFor(const Ending& end) {
  if (!end.failure.empty()) return TuningPhase::kFailing;
  return end.end == TuningEnd::kRequested ? TuningPhase::kStopping : TuningPhase::kFinishing;
}

TuningStep Finish(const TuningSnapshot& seen, TuningStep step) {
  switch (step.job.phase) {
    case TuningPhase::kFailing:
      Advance(step.job, TuningPhase::kFailed);
      break;
    case TuningPhase::kStopping:
      Advance(step.job, TuningPhase::kStopped);
      break;
    default:
      Advance(step.job, TuningPhase::kCompleted);
      break;
  }
  step.job.ended = seen.now;
  return step;
}

TuningStep Begin(const TuningSnapshot& seen, Ending end) {
  if (end.end == TuningEnd::kTrialsUsed || end.end == TuningEnd::kSpaceExhausted) {
    end = UsedUp(seen, std::move(end));
  }
  TuningStep step = StepFrom(seen);
  Advance(step.job, PhaseFor(end));
  step.job.end = end.end;
  step.job.end_note = std::move(end.note);
  step.job.failure_reason = std::move(end.failure);
  return Running(seen) == 0 ? Finish(seen, std::move(step)) : step;
}

void AddStop(const TrialView& view, const Verdict& verdict, TuningStep& step) {
  model::TuningTrial trial = view.trial;
  if (trial.stop == model::TrialStop::kNone) {
    trial.stop = verdict.stop;
    trial.stop_note = verdict.note;
  }
  step.stopped.push_back(trial.training_job);
  step.changed.push_back(std::move(trial));
}

bool MayBeStopped(const TrialView& view) {
  return !view.trial.ended() && view.training && !view.training->stop_requested &&
         !model::IsTerminal(view.training->phase);
}

std::optional<TuningStep> StopEarly(const TuningSnapshot& seen, const Search& search) {
  TuningStep step = StepFrom(seen);
  for (const auto& [place, verdict] : search.Judge(seen.trials)) {
    if (MayBeStopped(seen.trials[place])) AddStop(seen.trials[place], verdict, step);
  }
  if (step.stopped.empty()) return {};
  return step;
}

// What runs when the search is over.
std::optional<TuningStep> StopAll(const TuningSnapshot& seen) {
  TuningStep step = StepFrom(seen);
  for (const TrialView& view : seen.trials) {
    if (!MayBeStopped(view)) continue;
    AddStop(view, {model::TrialStop::kSearchOver, "the tuning job ends"}, step);
  }
  if (step.stopped.empty()) return {};
  return step;
}

NewTrial Make(const TuningSnapshot& seen, const Proposal& proposal) {
  const Definition& definition = *proposal.definition;
  const tuner::Suggestion& suggestion = proposal.suggestion;
  const int number = seen.job.Created() + 1;
  NewTrial made;
  made.trial.training_job = model::TrialName(seen.job, number, seen.salt);
  made.trial.tuning_job = seen.job.name;
  made.trial.number = number;
  made.trial.definition = definition.name;
  for (std::size_t i = 0; i < suggestion.values.size(); ++i) {
    made.trial.parameters.emplace_back(definition.space[i].name(), suggestion.values[i]);
  }
  made.trial.reason = suggestion.reason;
  made.trial.resource = suggestion.resource;
  made.trial.continues = suggestion.continues;
  made.trial.created = seen.now;
  made.trial.known = seen.job.Created() - Running(seen);
  made.training =
      model::NewTrainingJob(TrialRequest(definition, suggestion.values, made.trial.training_job),
                            {model::TrialUid(seen.job, number, seen.salt), seen.job.region,
                             seen.job.account, seen.now, seen.job.arn});
  made.training.notes = model::NotesOnTrainingRequest(made.training.request);
  return made;
}

// The next trial, or the end of a search that has nothing left to try.
std::optional<TuningStep> Create(const TuningSnapshot& seen, Search& search) {
  const int running = Running(seen);
  const Settings& settings = search.settings();
  if (seen.job.Created() >= settings.trials_max || running >= settings.parallel_max) return {};
  const auto proposal = search.Suggest(seen.trials);
  if (!proposal) {
    if (running > 0) return {};
    return Begin(seen, {TuningEnd::kSpaceExhausted,
                        fmt::format("every configuration was tried: {}", seen.job.Created())});
  }
  TuningStep step = StepFrom(seen);
  step.created = Make(seen, *proposal);
  ++step.job.trials.in_progress;
  ++step.job.objectives.pending;
  return step;
}

std::optional<TuningStep> WindUp(const TuningSnapshot& seen) {
  if (seen.job.phase == TuningPhase::kFinishing && seen.job.stop_requested && Running(seen) > 0) {
    return Begin(seen, {TuningEnd::kRequested, "stopped by request"});
  }
  if (Running(seen) == 0) return Finish(seen, StepFrom(seen));
  return StopAll(seen);
}

}  // namespace

std::optional<TuningStep> NextStep(const TuningSnapshot& seen, Search* search) {
  if (model::IsTerminal(seen.job.phase)) return {};
  if (auto results = RecordResults(seen, search)) return results;
  if (seen.job.phase != TuningPhase::kRunning) return WindUp(seen);
  if (search == nullptr) {
    return Begin(seen,
                 {TuningEnd::kNothingSucceeds, "",
                  "InternalServerError: We encountered an internal error. Please try again. " +
                      seen.broken});
  }
  if (Ending end = EndOf(seen, search->settings()); end.end != TuningEnd::kNone) {
    return Begin(seen, std::move(end));
  }
  if (auto stop = StopEarly(seen, *search)) return stop;
  return Create(seen, *search);
}

bool JudgedAll(const std::optional<TuningStep>& step) { return !step || step->created; }

std::optional<WallTime> NextDue(const TuningSnapshot& seen, const Search* search) {
  if (model::IsTerminal(seen.job.phase)) return {};
  WallTime due = seen.observed + kSweepInterval;
  if (search == nullptr || seen.job.phase != TuningPhase::kRunning) return due;
  const Settings& settings = search->settings();
  if (settings.WatchesCurves() && Running(seen) > 0) due = seen.observed + kCurveInterval;
  if (settings.runtime_max) due = std::min(due, seen.job.created + *settings.runtime_max);
  return due;
}

}  // namespace sabia::tuning
