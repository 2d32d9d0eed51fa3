#include "api/tuning_job_view.h"

#include <array>

#include "model/training_request.h"
#include "model/tuning_request.h"

namespace sabia::api {
namespace {

// Members that Describe repeats from the completed request.
constexpr std::array kEchoed = {"HyperParameterTuningJobConfig", "TrainingJobDefinition",
                                "TrainingJobDefinitions", "WarmStartConfig", "Autotune"};

json::object TrialCountersView(const model::TrialCounters& counters) {
  return {{"Completed", counters.completed},
          {"InProgress", counters.in_progress},
          {"RetryableError", counters.retryable_error},
          {"NonRetryableError", counters.non_retryable_error},
          {"Stopped", counters.stopped}};
}

json::object ObjectiveCountersView(const model::ObjectiveCounters& counters) {
  return {{"Succeeded", counters.succeeded},
          {"Pending", counters.pending},
          {"Failed", counters.failed}};
}

// A stop that was asked for shows at once, before the controller has acted upon it.
std::string_view StatusOf(const model::TuningJob& job) {
  if (job.stop_requested && !model::IsTerminal(job.phase)) return "Stopping";
  return model::PrimaryStatus(job.phase);
}

void ShowResources(const model::InstanceCatalog& instances, json::object& definition) {
  if (!definition.contains("HyperParameterTuningResourceConfig")) return;
  json::object training = model::TrainingRequestOf(instances, definition);
  definition["ResourceConfig"] = std::move(training["ResourceConfig"]);
}

json::object ObjectiveView(const model::TuningJob& job, const model::TuningTrial& trial) {
  json::object out;
  for (const model::TuningDefinition& definition : model::TuningDefinitionsOf(job.request)) {
    if (definition.name != trial.definition || definition.objective == nullptr) continue;
    out["Type"] = GetString(*definition.objective, "Type");
    out["MetricName"] = GetString(*definition.objective, "MetricName");
  }
  out["Value"] = *trial.objective;
  return out;
}

}  // namespace

std::string_view TrialStatus(const TrialRecord& record) {
  if (record.training) return model::PrimaryStatus(record.training->phase);
  switch (record.trial.result) {
    case model::TrialResult::kInProgress:
      return "InProgress";
    case model::TrialResult::kCompleted:
      return "Completed";
    case model::TrialResult::kRetryableError:
    case model::TrialResult::kNonRetryableError:
      return "Failed";
    case model::TrialResult::kStopped:
      return "Stopped";
  }
  return "InProgress";
}

json::object TrialSummaryView(const model::TuningJob& job, const TrialRecord& record) {
  const model::TuningTrial& trial = record.trial;
  json::object out{{"TrainingJobName", trial.training_job}, {"TuningJobName", trial.tuning_job}};
  if (!trial.definition.empty()) out["TrainingJobDefinitionName"] = trial.definition;
  out["TrainingJobArn"] = model::TrainingJobArn(job.region, job.account, trial.training_job);
  out["CreationTime"] = ToUnixSeconds(trial.created);
  out["TrainingJobStatus"] = TrialStatus(record);
  json::object tuned;
  for (const auto& [name, value] : trial.parameters) tuned[name] = value;
  out["TunedHyperParameters"] = std::move(tuned);
  if (record.training) {
    const model::TrainingJob& training = *record.training;
    if (training.training_start) {
      out["TrainingStartTime"] = ToUnixSeconds(*training.training_start);
    }
    if (training.training_end) out["TrainingEndTime"] = ToUnixSeconds(*training.training_end);
    if (!training.failure_reason.empty()) out["FailureReason"] = training.failure_reason;
  }
  if (trial.objective && trial.objective_status == model::ObjectiveStatus::kSucceeded) {
    out["FinalHyperParameterTuningJobObjectiveMetric"] = ObjectiveView(job, trial);
  }
  out["ObjectiveStatus"] = model::Name(trial.objective_status);
  return out;
}

json::object DescribeView(const model::TuningJob& job, const model::InstanceCatalog& instances,
                          WallTime now) {
  json::object out{{"HyperParameterTuningJobName", job.name},
                   {"HyperParameterTuningJobArn", job.arn}};
  for (const char* member : kEchoed) {
    const json::value* value = job.request->if_contains(member);
    if (value != nullptr && !value->is_null()) out[member] = *value;
  }
  if (json::value* one = out.if_contains("TrainingJobDefinition"); one != nullptr) {
    ShowResources(instances, one->get_object());
  }
  if (json::value* several = out.if_contains("TrainingJobDefinitions"); several != nullptr) {
    for (json::value& definition : several->get_array()) {
      ShowResources(instances, definition.get_object());
    }
  }
  out["HyperParameterTuningJobStatus"] = StatusOf(job);
  out["CreationTime"] = ToUnixSeconds(job.created);
  if (job.ended) out["HyperParameterTuningEndTime"] = ToUnixSeconds(*job.ended);
  out["LastModifiedTime"] = ToUnixSeconds(job.modified);
  out["TrainingJobStatusCounters"] = TrialCountersView(job.trials);
  out["ObjectiveStatusCounters"] = ObjectiveCountersView(job.objectives);
  if (!job.failure_reason.empty()) out["FailureReason"] = job.failure_reason;
  json::object completion{{"NumberOfTrainingJobsObjectiveNotImproving", job.not_improving}};
  if (job.converged) completion["ConvergenceDetectedTime"] = ToUnixSeconds(*job.converged);
  out["TuningJobCompletionDetails"] = std::move(completion);
  out["ConsumedResources"] =
      json::object{{"RuntimeInSeconds", model::ConsumedRuntime(job, now).count()}};
  return out;
}

json::object SummaryView(const model::TuningJob& job) {
  const json::object& config = *FindObject(job.request, "HyperParameterTuningJobConfig");
  json::object out{{"HyperParameterTuningJobName", job.name},
                   {"HyperParameterTuningJobArn", job.arn},
                   {"HyperParameterTuningJobStatus", StatusOf(job)},
                   {"Strategy", GetString(config, "Strategy")},
                   {"CreationTime", ToUnixSeconds(job.created)},
                   {"LastModifiedTime", ToUnixSeconds(job.modified)},
                   {"TrainingJobStatusCounters", TrialCountersView(job.trials)},
                   {"ObjectiveStatusCounters", ObjectiveCountersView(job.objectives)}};
  if (job.ended) out["HyperParameterTuningEndTime"] = ToUnixSeconds(*job.ended);
  if (const json::object* limits = FindObject(config, "ResourceLimits")) {
    out["ResourceLimits"] = *limits;
  }
  return out;
}

}  // namespace sabia::api
