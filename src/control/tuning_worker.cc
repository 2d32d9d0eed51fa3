#include "control/tuning_worker.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "store/training_job_row.h"
#include "store/tuning_job_row.h"

namespace sabia::control {
namespace {

// Steps in one look. A hundred training jobs may be created at once; more than this means that the
// planner does not settle, which is our bug.
constexpr int kStepsMax = 1'024;
// Names of one trial that others may have taken.
constexpr int kSaltMax = 100;
constexpr std::int64_t kFirstRevision = 1;

// A metric emits in its own time; a trial's resource is the ordinal number of the emission.
std::vector<model::TrialMeasurement> Measurements(const std::vector<double>& values) {
  std::vector<model::TrialMeasurement> out;
  out.reserve(values.size());
  for (const double value : values) {
    out.push_back({static_cast<std::int64_t>(out.size()) + 1, value});
  }
  return out;
}

std::optional<double> FinalValue(const model::TrainingJob& job, const std::string& metric) {
  for (const model::FinalMetric& final : job.final_metrics) {
    if (final.name == metric) return final.value;
  }
  return {};
}

tuning::TrainingView ViewOf(const model::TrainingJob& job, const std::string& metric,
                            WallTime now) {
  tuning::TrainingView view;
  view.phase = job.phase;
  view.stop_requested = job.stop_requested.has_value();
  if (model::IsTerminal(job.phase)) {
    view.ended = job.training_end.value_or(job.transitions.empty() ? job.modified
                                                                   : job.transitions.back().start);
  }
  if (job.training_start) {
    const Millis trained = job.training_end.value_or(now) - *job.training_start;
    view.seconds = static_cast<double>(trained.count()) / 1000;
  }
  view.failure_reason = job.failure_reason;
  view.failure_is_ours = job.failure_is_ours;
  view.objective = FinalValue(job, metric);
  return view;
}

}  // namespace

void TuningWorker::Run(TuningWork& work) {
  work.due.reset();
  work.gone = false;
  for (int step = 0; step < kStepsMax; ++step) {
    Status ready = work.stale_record || !work.trials_known ? Read(work) : Status();
    if (ready && work.revision == 0) {
      work.gone = true;
      return;
    }
    if (ready) ready = Observe(work);
    if (!ready) {
      LogError("failed to read tuning job '{}': {}", work.name, ready.error().message);
      work.due = ports_.clock.Wall() + settings_.retry_after;
      return;
    }
    work.seen.now = ports_.clock.Wall();
    tuning::Search* search = work.search ? &*work.search : nullptr;
    std::optional<tuning::TuningStep> next = tuning::NextStep(work.seen, search);
    if (tuning::JudgedAll(next)) {
      for (tuning::TrialView& view : work.seen.trials) {
        if (view.training) view.judged = view.training->curve.size();
      }
    }
    if (!next) {
      work.due = tuning::NextDue(work.seen, search);
      work.gone = model::IsTerminal(work.seen.job.phase);
      return;
    }
    const bool created = next->created.has_value();
    const Status performed = Perform(work, std::move(*next));
    if (performed) continue;
    if (!GoesOn(work, performed.error(), created)) return;
  }
  LogError("tuning job '{}' takes more than {} steps at once", work.name, kStepsMax);
  work.due = ports_.clock.Wall() + settings_.retry_after;
}

bool TuningWorker::GoesOn(TuningWork& work, const Error& error, bool created) {
  if (error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound) {
    work.stale_record = work.stale_trials = true;  // look at what it is now
    return true;
  }
  if (error.code == ErrorCode::kAlreadyExists && created && work.seen.salt < kSaltMax) {
    LogWarn("tuning job '{}': the name of its next training job is taken", work.name);
    ++work.seen.salt;
    return true;
  }
  LogError("tuning job '{}': {}", work.name, error.message);
  work.due = ports_.clock.Wall() + settings_.retry_after;
  return false;
}

Status TuningWorker::Read(TuningWork& work) {
  const auto row = ports_.records.Get(store::Kind::kTuningJob, work.name);
  if (!row && row.error().code != ErrorCode::kNotFound) return tl::make_unexpected(row.error());
  work.revision = 0;
  if (!row) return {};
  ASSIGN_OR_RETURN(model::TuningJob job, store::TuningJobOf(*row));
  // Another job may have got the name of one that was deleted.
  if (job.uid != work.seen.job.uid) work.trials_known = false;
  work.seen.job = std::move(job);
  work.revision = row->revision;
  if (!work.trials_known) RETURN_IF_ERROR(ReadTrials(work));
  work.stale_record = false;
  return {};
}

Status TuningWorker::ReadTrials(TuningWork& work) {
  ASSIGN_OR_RETURN(std::vector<store::Resource> rows,
                   ports_.records.Children(store::Kind::kTuningTrial, work.name));
  std::vector<std::pair<tuning::TrialView, std::int64_t>> trials;
  for (const store::Resource& row : rows) {
    ASSIGN_OR_RETURN(model::TuningTrial trial, store::TuningTrialOf(row));
    trials.emplace_back(tuning::TrialView{.trial = std::move(trial)}, row.revision);
  }
  std::ranges::sort(trials, {}, [](const auto& entry) { return entry.first.trial.number; });
  work.seen.trials.clear();
  work.trial_revisions.clear();
  for (auto& [view, revision] : trials) {
    work.seen.trials.push_back(std::move(view));
    work.trial_revisions.push_back(revision);
  }
  ASSIGN_OR_RETURN(const std::vector<tuning::ParentView> parents, ReadParents(work.seen.job));
  MakeSearch(work, parents);
  work.trials_known = work.stale_trials = true;
  return {};
}

Result<std::vector<tuning::ParentView>> TuningWorker::ReadParents(const model::TuningJob& job) {
  std::vector<tuning::ParentView> parents;
  for (const std::string& name : job.ParentNames()) {
    ASSIGN_OR_RETURN(const std::vector<store::Resource> rows,
                     ports_.records.Children(store::Kind::kTuningTrial, name));
    tuning::ParentView parent{.tuning_job = name, .trials = {}};
    for (const store::Resource& row : rows) {
      ASSIGN_OR_RETURN(model::TuningTrial trial, store::TuningTrialOf(row));
      if (trial.ended()) parent.trials.push_back(std::move(trial));
    }
    parents.push_back(std::move(parent));
  }
  return parents;
}

void TuningWorker::MakeSearch(TuningWork& work, const std::vector<tuning::ParentView>& parents) {
  work.search.reset();
  work.seen.broken.clear();
  auto settings = tuning::ReadSettings(catalog_, work.seen.job.request);
  if (settings) {
    auto search = tuning::Search::Create(std::move(*settings), work.seen.job.seed, parents);
    if (search) {
      work.search.emplace(std::move(*search));
      return;
    }
    work.seen.broken = search.error().message;
  } else {
    work.seen.broken = settings.error().message;
  }
  LogError("tuning job '{}' cannot be searched: {}", work.name, work.seen.broken);
}

Status TuningWorker::Observe(TuningWork& work) {
  if (!work.stale_trials && work.changed.empty()) return {};
  for (tuning::TrialView& view : work.seen.trials) {
    if (view.trial.ended()) continue;
    if (!work.stale_trials && !work.changed.contains(view.trial.training_job)) continue;
    RETURN_IF_ERROR(ObserveOne(work, view));
  }
  if (work.stale_trials) work.seen.observed = ports_.clock.Wall();
  work.stale_trials = false;
  work.changed.clear();
  return {};
}

Status TuningWorker::ObserveOne(const TuningWork& work, tuning::TrialView& view) {
  const std::string& name = view.trial.training_job;
  const auto row = ports_.records.Get(store::Kind::kTrainingJob, name);
  if (!row && row.error().code != ErrorCode::kNotFound) return tl::make_unexpected(row.error());
  if (!row) {
    view.training.reset();
    return {};
  }
  ASSIGN_OR_RETURN(const model::TrainingJob job, store::TrainingJobOf(*row));
  const tuning::Definition* definition =
      work.search ? work.search->settings().Find(view.trial.definition) : nullptr;
  const std::string metric = definition == nullptr ? "" : definition->metric;
  view.training = ViewOf(job, metric, ports_.clock.Wall());
  if (definition == nullptr || !work.search->settings().WatchesCurves()) return {};
  ASSIGN_OR_RETURN(const std::vector<double> values, ports_.facts.Curve(name, metric));
  view.training->curve = Measurements(values);
  return {};
}

Result<store::Change> TuningWorker::StopOf(const std::string& training_job) {
  ASSIGN_OR_RETURN(const store::Resource row,
                   ports_.records.Get(store::Kind::kTrainingJob, training_job));
  ASSIGN_OR_RETURN(model::TrainingJob job, store::TrainingJobOf(row));
  if (model::IsTerminal(job.phase)) {
    return Fail(ErrorCode::kConflict, "training job '{}' has ended", training_job);
  }
  const WallTime now = ports_.clock.Wall();
  model::RequestStop(job, now);
  job.modified = std::max(job.modified, now);
  return store::Change{store::Change::Op::kUpdate, store::RowOf(job, row.revision), {}, {}};
}

Result<std::vector<store::Change>> TuningWorker::ChangesOf(const TuningWork& work,
                                                           const tuning::TuningStep& step) {
  using Op = store::Change::Op;
  constexpr bool kSilent = true;  // nobody else looks at these, and we know
  std::vector<store::Change> changes;
  changes.push_back({Op::kUpdate, store::RowOf(step.job, work.revision), {}, {}, kSilent});
  for (const model::TuningTrial& trial : step.changed) {
    const std::int64_t revision = work.trial_revisions[static_cast<std::size_t>(trial.number) - 1];
    changes.push_back(
        {Op::kUpdate, store::RowOf(trial, revision, step.job.modified), {}, {}, kSilent});
  }
  if (step.created) {
    ASSIGN_OR_RETURN(store::Tags tags, ports_.facts.Tags(step.job.arn));
    model::TrainingJob training = step.created->training;
    // Tags may have changed since the search was accepted: those that make no sense any more do
    // not end it.
    if (auto deadline = model::DeadlineOf(tags, training.request); deadline) {
      training.deadline = *deadline;
    } else {
      training.notes.push_back(deadline.error().message);
    }
    changes.push_back(
        {Op::kInsert, store::RowOf(step.created->trial, 0, step.job.modified), {}, {}, kSilent});
    changes.push_back({Op::kInsert, store::RowOf(training, 0), std::move(tags), training.arn});
  }
  for (const std::string& name : step.stopped) {
    ASSIGN_OR_RETURN(store::Change stop, StopOf(name));
    changes.push_back(std::move(stop));
  }
  return changes;
}

Status TuningWorker::Perform(TuningWork& work, tuning::TuningStep step) {
  ASSIGN_OR_RETURN(const std::vector<store::Change> changes, ChangesOf(work, step));
  RETURN_IF_ERROR(ports_.records.Commit(changes));
  if (step.job.phase != work.seen.job.phase) {
    LogInfo("tuning job '{}' is {}: {}", work.name, model::Name(step.job.phase),
            step.job.failure_reason.empty() ? step.job.end_note : step.job.failure_reason);
  }
  ++work.revision;
  work.seen.job = std::move(step.job);
  for (model::TuningTrial& trial : step.changed) {
    const std::size_t i = static_cast<std::size_t>(trial.number) - 1;
    ++work.trial_revisions[i];
    work.seen.trials[i].trial = std::move(trial);
  }
  for (const std::string& name : step.stopped) {
    for (tuning::TrialView& view : work.seen.trials) {
      if (view.trial.training_job == name && view.training) view.training->stop_requested = true;
    }
  }
  if (!step.created) return {};
  work.seen.salt = 0;
  work.trial_revisions.push_back(kFirstRevision);
  work.seen.trials.push_back(
      {.trial = std::move(step.created->trial), .training = tuning::TrainingView{}});
  return {};
}

}  // namespace sabia::control
