#include "api/tuning_accounts.h"

#include "tuning/explain.h"

namespace sabia::api {
namespace {

using wire::AwsResult;

std::vector<tuning::TrialView> ViewsOf(const std::vector<TrialRecord>& records) {
  std::vector<tuning::TrialView> out;
  for (const TrialRecord& record : records) out.push_back({.trial = record.trial});
  return out;
}

// Parents that were deleted meanwhile say nothing any more.
AwsResult<std::vector<tuning::ParentView>> ParentsOf(TuningJobs& jobs,
                                                     const model::TuningJob& job) {
  std::vector<tuning::ParentView> out;
  for (const std::string& name : job.ParentNames()) {
    ASSIGN_OR_RETURN(const std::vector<TrialRecord> records, jobs.Trials(name));
    tuning::ParentView parent{.tuning_job = name};
    for (const TrialRecord& record : records) {
      if (record.trial.ended()) parent.trials.push_back(record.trial);
    }
    out.push_back(std::move(parent));
  }
  return out;
}

json::object TrialView(const tuning::TrialAccount& account, std::string_view status) {
  const model::TuningTrial& trial = *account.trial;
  json::object tuned;
  for (const auto& [name, value] : trial.parameters) tuned[name] = value;
  json::object out{{"Number", trial.number},
                   {"TrainingJobName", trial.training_job},
                   {"TrainingJobStatus", status},
                   {"ObjectiveStatus", model::Name(trial.objective_status)},
                   {"TunedHyperParameters", std::move(tuned)},
                   {"Reason", trial.reason},
                   {"Seconds", trial.seconds}};
  if (trial.objective) out["Objective"] = *trial.objective;
  if (!trial.failure.empty()) out["Failure"] = trial.failure;
  if (!trial.stop_note.empty()) out["Stop"] = trial.stop_note;
  if (account.expectation) {
    out["Expected"] = account.expectation->objective;
    out["ExpectedLow"] = account.expectation->low;
    out["ExpectedHigh"] = account.expectation->high;
  }
  return out;
}

json::object DefinitionView(const tuning::DefinitionAccount& account,
                            const std::vector<TrialRecord>& records) {
  json::array importances, failures, trials;
  for (const tuner::Importance& importance : account.importances) {
    importances.push_back({{"Name", importance.parameter}, {"Share", importance.share}});
  }
  for (const tuning::FailureAccount& failure : account.failures) {
    json::array numbers;
    for (const int number : failure.trials) numbers.push_back(number);
    failures.push_back({{"Failure", failure.failure}, {"Trials", std::move(numbers)}});
  }
  for (const tuning::TrialAccount& trial : account.trials) {
    std::string_view status = "InProgress";
    for (const TrialRecord& record : records) {
      if (record.trial.number == trial.trial->number) status = TrialStatus(record);
    }
    trials.push_back(TrialView(trial, status));
  }
  const tuning::Definition& definition = *account.definition;
  json::object out{{"MetricName", definition.metric},
                   {"Type", definition.goal == tuner::Goal::kMinimize ? "Minimize" : "Maximize"},
                   {"Importances", std::move(importances)},
                   {"Failures", std::move(failures)},
                   {"WithoutMetric", account.without_metric},
                   {"Trials", std::move(trials)}};
  if (!definition.name.empty()) out["DefinitionName"] = definition.name;
  return out;
}

json::object JobView(const model::TuningJob& job, const tuning::Settings& settings) {
  json::array notes;
  for (const std::string& note : job.notes) notes.emplace_back(note);
  const json::object& config = *FindObject(job.request, "HyperParameterTuningJobConfig");
  json::object out{
      {"HyperParameterTuningJobName", job.name},        {"Status", model::PrimaryStatus(job.phase)},
      {"Strategy", GetString(config, "Strategy")},      {"Seed", job.seed},
      {"MaxNumberOfTrainingJobs", settings.trials_max}, {"Notes", std::move(notes)}};
  if (job.end != model::TuningEnd::kNone) out["End"] = model::Name(job.end);
  if (!job.end_note.empty()) out["EndNote"] = job.end_note;
  if (!job.failure_reason.empty()) out["FailureReason"] = job.failure_reason;
  if (job.best) out["BestTrainingJobName"] = job.best->training_job;
  return out;
}

}  // namespace

AwsResult<json::object> ExplainTuningJob(TuningJobs& jobs, const json::object& request) {
  const std::string name = GetString(request, "HyperParameterTuningJobName");
  if (name.empty()) return wire::RefuseValidation("HyperParameterTuningJobName must be given");
  ASSIGN_OR_RETURN(const TuningJobs::Stored stored, jobs.Load(name));
  const auto settings = tuning::ReadSettings(jobs.instances(), stored.job.request);
  if (!settings) return wire::Pass(settings.error());
  ASSIGN_OR_RETURN(const std::vector<TrialRecord> records, jobs.Trials(name));
  ASSIGN_OR_RETURN(const auto parents, ParentsOf(jobs, stored.job));
  const std::vector<tuning::TrialView> views = ViewsOf(records);
  json::array definitions;
  for (const tuning::DefinitionAccount& account :
       tuning::Explain({*settings, stored.job.seed, views, parents})) {
    definitions.push_back(DefinitionView(account, records));
  }
  json::object out = JobView(stored.job, *settings);
  out["Definitions"] = std::move(definitions);
  return out;
}

}  // namespace sabia::api
