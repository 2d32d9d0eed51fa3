#include "model/training_job.h"

#include <algorithm>
#include <utility>

#include "model/instance_groups.h"
#include "model/json_fields.h"
#include "model/limits.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<TrainingPhase, std::string_view>, 11> kPhases = {{
    {TrainingPhase::kQueued, "queued"},
    {TrainingPhase::kLaunching, "launching"},
    {TrainingPhase::kDownloading, "downloading"},
    {TrainingPhase::kTraining, "training"},
    {TrainingPhase::kUploading, "uploading"},
    {TrainingPhase::kInterrupting, "interrupting"},
    {TrainingPhase::kStopping, "stopping"},
    {TrainingPhase::kFailing, "failing"},
    {TrainingPhase::kCompleted, "completed"},
    {TrainingPhase::kFailed, "failed"},
    {TrainingPhase::kStopped, "stopped"},
}};

json::object TransitionToJson(const Transition& t) {
  json::object out{{"status", t.status}, {"start", ToUnixMillis(t.start)}, {"message", t.message}};
  AddTime(out, "end", t.end);
  return out;
}

Result<Transition> TransitionFromJson(const json::object& o) {
  Transition t;
  FieldReader in(o);
  in.Text("status", t.status);
  in.Time("start", t.start);
  in.OptionalTime("end", t.end);
  in.Text("message", t.message);
  RETURN_IF_ERROR(in.status());
  return t;
}

json::object AttemptToJson(const Attempt& a) {
  json::object out{{"number", a.number},
                   {"spot", a.spot},
                   {"launched", ToUnixMillis(a.launched)},
                   {"end_reason", a.end_reason}};
  AddTime(out, "ready", a.ready);
  AddTime(out, "ended", a.ended);
  if (!a.zone.empty()) out["zone"] = a.zone;
  if (a.per_hour) out["nanodollars_per_hour"] = a.per_hour->nanos();
  if (!a.choice.empty()) out["choice"] = a.choice;
  AddTime(out, "began", a.began);
  AddTime(out, "saved", a.saved);
  AddTime(out, "gone", a.gone);
  return out;
}

Result<Attempt> AttemptFromJson(const json::object& o) {
  Attempt a;
  FieldReader in(o);
  in.Integer("number", a.number);
  in.Flag("spot", a.spot);
  in.Time("launched", a.launched);
  in.OptionalTime("ready", a.ready);
  in.OptionalTime("ended", a.ended);
  in.Text("end_reason", a.end_reason);
  in.Text("zone", a.zone);
  std::optional<std::int64_t> nanos;
  in.OptionalInteger("nanodollars_per_hour", nanos);
  if (nanos) a.per_hour = Money::FromNanos(*nanos);
  in.Text("choice", a.choice);
  in.OptionalTime("began", a.began);
  in.OptionalTime("saved", a.saved);
  in.OptionalTime("gone", a.gone);
  RETURN_IF_ERROR(in.status());
  return a;
}

std::optional<Seconds> LimitOf(const json::object& request, std::string_view member) {
  const json::object* condition = FindObject(request, "StoppingCondition");
  if (condition == nullptr) return std::nullopt;
  const auto value = FindInt(*condition, member);
  if (!value) return std::nullopt;
  return Seconds(*value);
}

Seconds RoundUp(Millis duration) { return std::chrono::ceil<Seconds>(duration); }

json::object WithoutRequest(const TrainingJob& job, const json::storage_ptr& storage) {
  const auto metric = [](const FinalMetric& m) { return m.ToJson(); };
  const auto channel = [](const ChannelReport& c) { return c.ToJson(); };
  json::object out({{"uid", job.uid},
                    {"name", job.name},
                    {"arn", job.arn},
                    {"region", job.region},
                    {"account", job.account},
                    {"created", ToUnixMillis(job.created)},
                    {"modified", ToUnixMillis(job.modified)},
                    {"phase", Name(job.phase)},
                    {"secondary_status", job.secondary_status},
                    {"transitions", ListToJson(job.transitions, TransitionToJson)},
                    {"attempts", ListToJson(job.attempts, AttemptToJson)},
                    {"failure_reason", job.failure_reason},
                    {"failure_is_ours", job.failure_is_ours},
                    {"final_metrics", ListToJson(job.final_metrics, metric)},
                    {"channels", ListToJson(job.channels, channel)},
                    {"model_uploaded", job.model_uploaded},
                    {"stop_reason", Name(job.stop_reason)},
                    {"interrupt_attempt", job.interrupt_attempt},
                    {"retries", job.retries},
                    {"notes", TextsToJson(job.notes)}},
                   storage);
  if (!job.tuning_job_arn.empty()) out["tuning_job_arn"] = job.tuning_job_arn;
  AddTime(out, "training_start", job.training_start);
  AddTime(out, "training_end", job.training_end);
  AddTime(out, "stop_requested", job.stop_requested);
  AddTime(out, "reclaim_at", job.reclaim_at);
  if (job.deadline) out["deadline"] = job.deadline->ToJson();
  if (!job.move_to.empty()) out["move_to"] = job.move_to;
  if (job.warm_pool) out["warm_pool"] = job.warm_pool->ToJson();
  return out;
}

StopReason StopReasonOf(std::string_view name) {
  return ParseStopReason(name).value_or(StopReason::kNone);
}

}  // namespace

std::string_view Name(TrainingPhase phase) { return NameOf(kPhases, phase); }

json::object TrainingJob::ToJson() const {
  json::object out = WithoutRequest(*this, json::storage_ptr());
  out["request"] = request.get();
  return out;
}

std::string TrainingJob::ToText() const {
  std::array<unsigned char, 8192> scratch;
  json::monotonic_resource memory(scratch.data(), scratch.size());
  return WithRequest(json::serialize(WithoutRequest(*this, &memory)), request);
}

Result<TrainingJob> TrainingJob::FromJson(const json::object& document) {
  TrainingJob job;
  FieldReader in(document);
  in.Text("uid", job.uid);
  in.Text("name", job.name);
  in.Text("arn", job.arn);
  in.Text("region", job.region);
  in.Text("account", job.account);
  in.Time("created", job.created);
  in.Time("modified", job.modified);
  in.Object("request", job.request);
  in.Text("tuning_job_arn", job.tuning_job_arn);
  in.Enum("phase", kPhases, job.phase);
  in.Text("secondary_status", job.secondary_status);
  in.List("transitions", TransitionFromJson, job.transitions);
  in.List("attempts", AttemptFromJson, job.attempts);
  in.OptionalTime("training_start", job.training_start);
  in.OptionalTime("training_end", job.training_end);
  in.Text("failure_reason", job.failure_reason);
  in.Flag("failure_is_ours", job.failure_is_ours);
  in.List("final_metrics", FinalMetric::FromJson, job.final_metrics);
  in.List("channels", ChannelReport::FromJson, job.channels);
  in.Flag("model_uploaded", job.model_uploaded);
  in.OptionalTime("stop_requested", job.stop_requested);
  std::string stop_reason = "none";
  in.Text("stop_reason", stop_reason);
  job.stop_reason = StopReasonOf(stop_reason);
  in.Integer("interrupt_attempt", job.interrupt_attempt);
  in.OptionalTime("reclaim_at", job.reclaim_at);
  if (const json::object* deadline = FindObject(document, "deadline")) {
    ASSIGN_OR_RETURN(job.deadline, Deadline::FromJson(*deadline));
  }
  in.Text("move_to", job.move_to);
  in.Integer("retries", job.retries);
  in.Texts("notes", job.notes);
  RETURN_IF_ERROR(in.status());
  if (const json::object* pool = FindObject(document, "warm_pool")) {
    ASSIGN_OR_RETURN(job.warm_pool, WarmPool::FromJson(*pool));
  }
  return job;
}

int TrainingJob::InstanceCount() const {
  const std::vector<InstanceGroup> groups = InstanceGroupsOf(request);
  if (groups.empty()) return 1;
  int count = 0;
  for (const InstanceGroup& group : groups) count += group.count;
  return count;
}

bool TrainingJob::IsSpot() const { return GetBool(request, "EnableManagedSpotTraining"); }

std::optional<Seconds> TrainingJob::MaxRuntime() const {
  return LimitOf(request, "MaxRuntimeInSeconds");
}
std::optional<Seconds> TrainingJob::MaxWait() const {
  return LimitOf(request, "MaxWaitTimeInSeconds");
}
std::optional<Seconds> TrainingJob::MaxPending() const {
  return LimitOf(request, "MaxPendingTimeInSeconds");
}

int TrainingJob::MaxRetries() const {
  const json::object* strategy = FindObject(request, "RetryStrategy");
  return strategy == nullptr ? 0 : static_cast<int>(GetInt(*strategy, "MaximumRetryAttempts"));
}

Seconds TrainingJob::KeepAlive() const {
  const json::object* resources = FindObject(request, "ResourceConfig");
  return Seconds(resources == nullptr ? 0 : GetInt(*resources, "KeepAlivePeriodInSeconds"));
}

bool RequestStop(TrainingJob& job, WallTime now) {
  if (job.stop_requested) return false;
  job.stop_requested = now;
  if (job.stop_reason == StopReason::kNone) job.stop_reason = StopReason::kRequested;
  return true;
}

std::string_view PrimaryStatus(TrainingPhase phase) {
  switch (phase) {
    case TrainingPhase::kQueued:
    case TrainingPhase::kLaunching:
    case TrainingPhase::kDownloading:
    case TrainingPhase::kTraining:
    case TrainingPhase::kUploading:
    case TrainingPhase::kInterrupting:
    case TrainingPhase::kFailing:
      return "InProgress";
    case TrainingPhase::kStopping:
      return "Stopping";
    case TrainingPhase::kCompleted:
      return "Completed";
    case TrainingPhase::kFailed:
      return "Failed";
    case TrainingPhase::kStopped:
      return "Stopped";
  }
  return "InProgress";
}

void EnterStatus(TrainingJob& job, std::string_view secondary, std::string_view message,
                 WallTime now) {
  if (!job.transitions.empty()) now = std::max(now, job.transitions.back().start);
  job.modified = std::max(job.modified, now);
  job.secondary_status = secondary;
  if (!job.transitions.empty() && job.transitions.back().status == secondary) {
    job.transitions.back().message = message;
    return;
  }
  if (!job.transitions.empty()) job.transitions.back().end = now;
  job.transitions.push_back(
      Transition{std::string(secondary), now, std::nullopt, std::string(message)});
}

WallTime QueuedSince(const TrainingJob& job) {
  if (job.attempts.empty()) return job.created;
  return job.attempts.back().ended.value_or(job.attempts.back().launched);
}

void ShowWaiting(TrainingJob& job, WallTime now) {
  if (job.phase != TrainingPhase::kQueued || !job.attempts.empty() || job.IsSpot()) return;
  const WallTime since = QueuedSince(job) + kShowWaitingAfter;
  if (job.secondary_status != "Starting" || now < since) return;
  EnterStatus(job, "Pending", "Training job waiting for capacity", since);
}

std::optional<Seconds> TrainingTime(const TrainingJob& job, WallTime now) {
  if (!job.training_start) return std::nullopt;
  return RoundUp(std::max(Millis(0), job.training_end.value_or(now) - *job.training_start));
}

std::optional<Seconds> BillableTime(const TrainingJob& job, WallTime now) {
  if (!job.training_start) return std::nullopt;
  Millis total{0};
  for (const Attempt& attempt : job.attempts) {
    if (!attempt.ready) continue;
    total += std::max(Millis(0), attempt.ended.value_or(now) - *attempt.ready);
  }
  return RoundUp(total);
}

}  // namespace sabia::model
