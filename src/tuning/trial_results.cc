#include "tuning/trial_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/limits.h"
#include "tuner/completion.h"

namespace sabia::tuning {
namespace {

using model::ObjectiveStatus;
using model::TrialResult;

bool HasResult(const TrialView& view) {
  return !view.trial.ended() && (!view.training || model::IsTerminal(view.training->phase));
}

// Training jobs that ended in the same millisecond, and those that are gone, come by number.
std::vector<const TrialView*> InOrderOfEnd(const TuningSnapshot& seen) {
  std::vector<const TrialView*> ended;
  for (const TrialView& view : seen.trials) {
    if (HasResult(view)) ended.push_back(&view);
  }
  std::ranges::stable_sort(ended, {}, [&](const TrialView* view) {
    return view->training ? view->training->ended.value_or(seen.now) : seen.now;
  });
  return ended;
}

TrialResult ResultOf(const TrainingView& training) {
  if (training.phase == model::TrainingPhase::kCompleted) return TrialResult::kCompleted;
  if (training.phase == model::TrainingPhase::kStopped) return TrialResult::kStopped;
  return training.failure_is_ours ? TrialResult::kRetryableError : TrialResult::kNonRetryableError;
}

std::string WhyNoObjective(const TrainingView& training, const std::string& metric) {
  if (training.phase == model::TrainingPhase::kFailed) return training.failure_reason;
  return fmt::format(
      "the objective metric '{}' was not found: no log line matched its regular expression",
      metric);
}

model::TuningTrial Ended(const TrialView& view, const std::string& metric) {
  model::TuningTrial trial = view.trial;
  trial.objective_status = ObjectiveStatus::kFailed;
  if (!view.training) {
    trial.result = TrialResult::kNonRetryableError;
    trial.failure = "the training job was deleted before its result was read";
    return trial;
  }
  const TrainingView& training = *view.training;
  trial.result = ResultOf(training);
  trial.seconds = training.seconds;
  trial.curve = Thinned(training.curve);
  if (training.objective && std::isfinite(*training.objective)) {
    trial.objective = training.objective;
  }
  const bool failed = training.phase == model::TrainingPhase::kFailed;
  if (trial.objective && !failed) {
    trial.objective_status = ObjectiveStatus::kSucceeded;
  } else {
    trial.failure = FirstBytes(WhyNoObjective(training, metric), model::kFailureReasonCharsMax);
  }
  return trial;
}

void Count(const model::TuningTrial& trial, model::TuningJob& job) {
  --job.trials.in_progress;
  --job.objectives.pending;
  switch (trial.result) {
    case TrialResult::kCompleted:
      ++job.trials.completed;
      break;
    case TrialResult::kStopped:
      ++job.trials.stopped;
      break;
    case TrialResult::kRetryableError:
      ++job.trials.retryable_error;
      break;
    case TrialResult::kInProgress:
    case TrialResult::kNonRetryableError:
      ++job.trials.non_retryable_error;
      break;
  }
  const bool succeeded = trial.objective_status == ObjectiveStatus::kSucceeded;
  ++(succeeded ? job.objectives.succeeded : job.objectives.failed);
}

bool Better(double value, const std::optional<model::TuningBest>& than, tuner::Goal goal) {
  if (!than) return true;
  return goal == tuner::Goal::kMinimize ? value < than->value : value > than->value;
}

void Compare(const model::TuningTrial& trial, const Search& search, model::TuningJob& job) {
  if (trial.objective_status != ObjectiveStatus::kSucceeded) return;
  const Definition* definition = search.settings().Find(trial.definition);
  if (definition == nullptr || !Better(*trial.objective, job.best, definition->goal)) return;
  job.best = model::TuningBest{trial.training_job, trial.tuning_job, trial.definition,
                               definition->metric, *trial.objective};
}

void CompareWithParents(const Search& search, model::TuningJob& job) {
  if (!search.settings().identical_parents) return;
  job.overall_best = search.best_of_parents();
  if (job.best && Better(job.best->value, job.overall_best, search.settings().goal())) {
    job.overall_best = job.best;
  }
}

const tuner::Space& LargestSpace(const Settings& settings) {
  const auto largest = std::ranges::max_element(settings.definitions, {},
                                                [](const Definition& d) { return d.space.size(); });
  return largest->space;
}

void Conclude(const TuningSnapshot& seen, const Search& search, TuningStep& step) {
  std::vector<TrialView> trials = seen.trials;
  for (const model::TuningTrial& changed : step.changed) {
    trials[static_cast<std::size_t>(changed.number) - 1].trial = changed;
  }
  const std::vector<tuner::Trial> outcomes = Outcomes(trials);
  const tuner::Goal goal = search.settings().goal();
  step.job.not_improving = static_cast<int>(tuner::TrialsNotImproving(outcomes, goal));
  const bool converged = tuner::Converged(outcomes, goal, LargestSpace(search.settings()));
  if (converged && !step.job.converged) step.job.converged = seen.now;
  CompareWithParents(search, step.job);
}

}  // namespace

std::optional<TuningStep> RecordResults(const TuningSnapshot& seen, const Search* search) {
  const std::vector<const TrialView*> ended = InOrderOfEnd(seen);
  if (ended.empty()) return {};
  TuningStep step;
  step.job = seen.job;
  step.job.modified = std::max(step.job.modified, seen.now);
  int finished = seen.job.Created() - seen.job.trials.in_progress;
  for (const TrialView* view : ended) {
    const Definition* definition =
        search == nullptr ? nullptr : search->settings().Find(view->trial.definition);
    model::TuningTrial trial = Ended(*view, definition == nullptr ? "" : definition->metric);
    trial.finished = ++finished;
    Count(trial, step.job);
    if (search != nullptr) Compare(trial, *search, step.job);
    step.changed.push_back(std::move(trial));
  }
  if (search != nullptr) Conclude(seen, *search, step);
  return step;
}

std::string FirstBytes(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  text.resize(limit);
  return text;
}

}  // namespace sabia::tuning
