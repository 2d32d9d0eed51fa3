#include "plan/testing/snapshots.h"

#include "base/check.h"

namespace sabia::plan::testing {

model::TrainingJob NewJob(const JobOptions& options) {
  model::TrainingJob job;
  job.uid = "0123456789ab";
  job.name = "job";
  job.arn = "arn:aws:sagemaker:us-west-2:123456789012:training-job/job";
  job.created = job.modified = kCreated;
  json::object stopping{{"MaxRuntimeInSeconds", options.max_runtime}};
  if (options.max_wait > 0) stopping["MaxWaitTimeInSeconds"] = options.max_wait;
  if (options.max_pending > 0) stopping["MaxPendingTimeInSeconds"] = options.max_pending;
  job.request = {
      {"TrainingJobName", "job"},
      {"EnableManagedSpotTraining", options.spot},
      {"ResourceConfig", {{"InstanceCount", options.hosts}, {"InstanceType", "ml.m5.large"}}},
      {"StoppingCondition", stopping}};
  if (options.retries > 0)
    job.request.Edit()["RetryStrategy"] = {{"MaximumRetryAttempts", options.retries}};
  EnterStatus(job, "Starting", "Starting the training job", kCreated);
  return job;
}

TrainingSnapshot Placed(const JobOptions& options, WallTime at) {
  TrainingSnapshot seen;
  seen.job = NewJob(options);
  seen.now = at;
  seen.capacity.answer = CapacityView::Answer::kGranted;
  for (int i = 0; i < options.hosts; ++i) {
    seen.capacity.slices.push_back({"homogeneousCluster", "ml.m5.large", 2, std::int64_t{8} << 30});
  }
  const auto action = NextStep(seen, {});
  CHECK(action && std::holds_alternative<Record>(*action));
  const Record& record = std::get<Record>(*action);
  seen.job = record.job;
  for (const model::InstanceRecord& lease : record.lease) {
    InstanceView host;
    host.record = lease;
    host.alive = true;
    host.launches = 1;
    seen.instances.push_back(std::move(host));
  }
  seen.capacity = {};
  return seen;
}

model::Report MakeReport(const Phases& phases) {
  model::Report report;
  report.pid = 1;
  const auto begin = [&](model::AgentPhase phase, int second) {
    if (second < 0) return;
    report.phase = phase;
    report.began[phase] = At(second);
  };
  begin(model::AgentPhase::kPreparing, phases.preparing);
  begin(model::AgentPhase::kDownloading, phases.downloading);
  begin(model::AgentPhase::kTraining, phases.training);
  begin(model::AgentPhase::kStopping, phases.stopping);
  begin(model::AgentPhase::kExited, phases.exited);
  begin(model::AgentPhase::kUploading, phases.uploading);
  begin(model::AgentPhase::kDone, phases.done);
  if (phases.exited >= 0) report.exit_code = 0;
  return report;
}

model::Report FinishedWell() {
  return MakeReport({.preparing = 10,
                     .downloading = 11,
                     .training = 13,
                     .exited = 20,
                     .uploading = 20,
                     .done = 22});
}

std::optional<Action> Settle(TrainingSnapshot& seen, const TrainingRules& rules) {
  constexpr int kStepsMax = 20;
  for (int step = 0; step < kStepsMax; ++step) {
    auto action = NextStep(seen, rules);
    if (!action || !std::holds_alternative<Record>(*action)) return action;
    Record& record = std::get<Record>(*action);
    seen.job = std::move(record.job);
    if (record.give_back) seen.instances.clear();
  }
  CHECK_MSG(false, "the planner records without end");
}

std::vector<std::string> Statuses(const model::TrainingJob& job) {
  std::vector<std::string> out;
  for (const model::Transition& t : job.transitions) out.push_back(t.status);
  return out;
}

std::string LastMessage(const model::TrainingJob& job) { return job.transitions.back().message; }

}  // namespace sabia::plan::testing
