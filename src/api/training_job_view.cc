#include "api/training_job_view.h"

#include <algorithm>

#include "model/job_outputs.h"

namespace sabia::api {
namespace {

// Members that Describe repeats from the completed request, in the order of the service model.
constexpr std::array kEchoed = {"HyperParameters",
                                "AlgorithmSpecification",
                                "RoleArn",
                                "InputDataConfig",
                                "OutputDataConfig",
                                "ResourceConfig",
                                "VpcConfig",
                                "StoppingCondition",
                                "EnableNetworkIsolation",
                                "EnableInterContainerTrafficEncryption",
                                "EnableManagedSpotTraining",
                                "CheckpointConfig",
                                "DebugHookConfig",
                                "ProfilerConfig",
                                "Environment",
                                "RetryStrategy",
                                "RemoteDebugConfig",
                                "InfraCheckConfig"};

json::array Transitions(const model::TrainingJob& job) {
  json::array out;
  out.reserve(job.transitions.size());
  const bool finished = model::IsTerminal(job.phase);
  for (const model::Transition& transition : job.transitions) {
    json::object entry{{"Status", transition.status},
                       {"StartTime", ToUnixSeconds(transition.start)},
                       {"StatusMessage", transition.message}};
    // The entry of a finished job's last status is closed as well: it ends where it began.
    if (transition.end) {
      entry["EndTime"] = ToUnixSeconds(*transition.end);
    } else if (finished) {
      entry["EndTime"] = ToUnixSeconds(
          job.training_end ? std::max(*job.training_end, transition.start) : transition.start);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

json::array FinalMetrics(const model::TrainingJob& job) {
  json::array out;
  for (const model::FinalMetric& metric : job.final_metrics) {
    out.push_back({{"MetricName", metric.name},
                   {"Value", metric.value},
                   {"Timestamp", ToUnixSeconds(metric.time)}});
  }
  return out;
}

std::string_view ProfilingStatus(const json::object& request) {
  const json::object* profiler = FindObject(request, "ProfilerConfig");
  return profiler == nullptr || GetBool(*profiler, "DisableProfiler") ? "Disabled" : "Enabled";
}

void AddTimes(const model::TrainingJob& job, json::object& out) {
  out["CreationTime"] = ToUnixSeconds(job.created);
  if (job.training_start) out["TrainingStartTime"] = ToUnixSeconds(*job.training_start);
  if (job.training_end) out["TrainingEndTime"] = ToUnixSeconds(*job.training_end);
  out["LastModifiedTime"] = ToUnixSeconds(job.modified);
  if (!job.training_end) return;
  // The model's minimum for both is 1: a job that never ran has neither.
  const auto training = model::TrainingTime(job, *job.training_end);
  const auto billable = model::BillableTime(job, *job.training_end);
  if (training && *training > Seconds(0)) out["TrainingTimeInSeconds"] = training->count();
  if (billable && *billable > Seconds(0)) out["BillableTimeInSeconds"] = billable->count();
}

json::object WarmPoolStatus(const model::WarmPool& pool, WallTime now) {
  json::object out{{"Status", Name(pool.state)}};
  if (pool.retained_from)
    out["ResourceRetainedBillableTimeInSeconds"] = model::RetainedTime(pool, now).count();
  if (!pool.reused_by.empty()) out["ReusedByJob"] = pool.reused_by;
  return out;
}

}  // namespace

json::object DescribeView(const model::TrainingJob& job, WallTime now) {
  json::object out;
  out["TrainingJobName"] = job.name;
  out["TrainingJobArn"] = job.arn;
  if (!job.tuning_job_arn.empty()) out["TuningJobArn"] = job.tuning_job_arn;
  out["ModelArtifacts"] =
      json::object{{"S3ModelArtifacts", model::ModelArtifactsUri(job.request, job.name)}};
  out["TrainingJobStatus"] = model::PrimaryStatus(job.phase);
  out["SecondaryStatus"] = job.secondary_status;
  if (!job.failure_reason.empty()) out["FailureReason"] = job.failure_reason;
  for (const char* member : kEchoed) {
    const json::value* value = job.request->if_contains(member);
    if (value != nullptr && !value->is_null()) out[member] = *value;
  }
  AddTimes(job, out);
  out["SecondaryStatusTransitions"] = Transitions(job);
  if (!job.final_metrics.empty()) out["FinalMetricDataList"] = FinalMetrics(job);
  out["ProfilingStatus"] = ProfilingStatus(job.request);
  if (job.warm_pool) out["WarmPoolStatus"] = WarmPoolStatus(*job.warm_pool, now);
  return out;
}

json::object SummaryView(const model::TrainingJob& job, WallTime now) {
  json::object out{{"TrainingJobName", job.name},
                   {"TrainingJobArn", job.arn},
                   {"CreationTime", ToUnixSeconds(job.created)}};
  if (job.training_end) out["TrainingEndTime"] = ToUnixSeconds(*job.training_end);
  out["LastModifiedTime"] = ToUnixSeconds(job.modified);
  out["TrainingJobStatus"] = model::PrimaryStatus(job.phase);
  out["SecondaryStatus"] = job.secondary_status;
  if (job.warm_pool) out["WarmPoolStatus"] = WarmPoolStatus(*job.warm_pool, now);
  return out;
}

}  // namespace sabia::api
