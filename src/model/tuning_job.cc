#include "model/tuning_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/json_fields.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<TuningPhase, std::string_view>, 7> kPhases = {{
    {TuningPhase::kRunning, "running"},
    {TuningPhase::kFinishing, "finishing"},
    {TuningPhase::kStopping, "stopping"},
    {TuningPhase::kFailing, "failing"},
    {TuningPhase::kCompleted, "completed"},
    {TuningPhase::kFailed, "failed"},
    {TuningPhase::kStopped, "stopped"},
}};

constexpr std::array<std::pair<TuningEnd, std::string_view>, 9> kEnds = {{
    {TuningEnd::kNone, "none"},
    {TuningEnd::kTrialsUsed, "trials_used"},
    {TuningEnd::kSpaceExhausted, "space_exhausted"},
    {TuningEnd::kTargetReached, "target_reached"},
    {TuningEnd::kNotImproving, "not_improving"},
    {TuningEnd::kConverged, "converged"},
    {TuningEnd::kMaxRuntime, "max_runtime"},
    {TuningEnd::kRequested, "requested"},
    {TuningEnd::kNothingSucceeds, "nothing_succeeds"},
}};

constexpr std::array<std::pair<ObjectiveStatus, std::string_view>, 3> kObjectives = {{
    {ObjectiveStatus::kPending, "Pending"},
    {ObjectiveStatus::kSucceeded, "Succeeded"},
    {ObjectiveStatus::kFailed, "Failed"},
}};

constexpr std::array<std::pair<TrialStop, std::string_view>, 4> kStops = {{
    {TrialStop::kNone, "none"},
    {TrialStop::kMedianRule, "median_rule"},
    {TrialStop::kHyperband, "hyperband"},
    {TrialStop::kSearchOver, "search_over"},
}};

constexpr std::array<std::pair<TrialResult, std::string_view>, 5> kResults = {{
    {TrialResult::kInProgress, "in_progress"},
    {TrialResult::kCompleted, "completed"},
    {TrialResult::kRetryableError, "retryable_error"},
    {TrialResult::kNonRetryableError, "non_retryable_error"},
    {TrialResult::kStopped, "stopped"},
}};

// Parameters keep their order, so they are a list of pairs and no object.
json::array ParametersToJson(const std::vector<std::pair<std::string, std::string>>& parameters) {
  json::array out;
  for (const auto& [name, value] : parameters) out.push_back(json::array{name, value});
  return out;
}

Status ReadParameters(const json::object& document,
                      std::vector<std::pair<std::string, std::string>>& out) {
  const json::array* list = FindArray(document, "parameters");
  if (list == nullptr) return {};
  for (const json::value& item : *list) {
    const json::array* pair = item.if_array();
    const bool good =
        pair != nullptr && pair->size() == 2 && (*pair)[0].is_string() && (*pair)[1].is_string();
    if (!good) return Fail(ErrorCode::kCorrupt, "'parameters' holds something that is no pair");
    out.emplace_back(View((*pair)[0].get_string()), View((*pair)[1].get_string()));
  }
  return {};
}

json::array CurveToJson(const std::vector<TrialMeasurement>& curve) {
  json::array out;
  for (const TrialMeasurement& m : curve) out.push_back(json::array{m.resource, m.value});
  return out;
}

Status ReadCurve(const json::object& document, std::vector<TrialMeasurement>& out) {
  const json::array* list = FindArray(document, "curve");
  if (list == nullptr) return {};
  for (const json::value& item : *list) {
    const json::array* pair = item.if_array();
    const bool good =
        pair != nullptr && pair->size() == 2 && (*pair)[0].is_int64() && (*pair)[1].is_number();
    if (!good) return Fail(ErrorCode::kCorrupt, "'curve' holds something that is no measurement");
    out.push_back({(*pair)[0].get_int64(), (*pair)[1].to_number<double>()});
  }
  return {};
}

json::object BestToJson(const TuningBest& best) {
  return {{"training_job", best.training_job},
          {"tuning_job", best.tuning_job},
          {"definition", best.definition},
          {"metric", best.metric},
          {"value", best.value}};
}

Status ReadBest(const json::object& document, std::string_view key,
                std::optional<TuningBest>& out) {
  const json::object* found = FindObject(document, key);
  if (found == nullptr) return {};
  TuningBest best;
  FieldReader in(*found);
  in.Text("training_job", best.training_job);
  in.Text("tuning_job", best.tuning_job);
  in.Text("definition", best.definition);
  in.Text("metric", best.metric);
  in.Real("value", best.value);
  RETURN_IF_ERROR(in.status());
  out = std::move(best);
  return {};
}

json::object CountersToJson(const TuningJob& job) {
  return {{"completed", job.trials.completed},
          {"in_progress", job.trials.in_progress},
          {"retryable_error", job.trials.retryable_error},
          {"non_retryable_error", job.trials.non_retryable_error},
          {"stopped", job.trials.stopped},
          {"objective_succeeded", job.objectives.succeeded},
          {"objective_pending", job.objectives.pending},
          {"objective_failed", job.objectives.failed}};
}

Status ReadCounters(const json::object& document, TuningJob& job) {
  const json::object* counters = FindObject(document, "counters");
  if (counters == nullptr) return {};
  FieldReader in(*counters);
  in.Integer("completed", job.trials.completed);
  in.Integer("in_progress", job.trials.in_progress);
  in.Integer("retryable_error", job.trials.retryable_error);
  in.Integer("non_retryable_error", job.trials.non_retryable_error);
  in.Integer("stopped", job.trials.stopped);
  in.Integer("objective_succeeded", job.objectives.succeeded);
  in.Integer("objective_pending", job.objectives.pending);
  in.Integer("objective_failed", job.objectives.failed);
  return in.status();
}

json::object WithoutRequest(const TuningJob& job) {
  json::object out{{"uid", job.uid},
                   {"name", job.name},
                   {"arn", job.arn},
                   {"region", job.region},
                   {"account", job.account},
                   {"created", ToUnixMillis(job.created)},
                   {"modified", ToUnixMillis(job.modified)},
                   {"seed", job.seed},
                   {"phase", Name(job.phase)},
                   {"end", Name(job.end)},
                   {"end_note", job.end_note},
                   {"failure_reason", job.failure_reason},
                   {"counters", CountersToJson(job)},
                   {"not_improving", job.not_improving},
                   {"notes", TextsToJson(job.notes)}};
  AddTime(out, "ended", job.ended);
  AddTime(out, "converged", job.converged);
  AddTime(out, "stop_requested", job.stop_requested);
  if (job.best) out["best"] = BestToJson(*job.best);
  if (job.overall_best) out["overall_best"] = BestToJson(*job.overall_best);
  return out;
}

// FNV-1a, finished as MurmurHash3 does it: names need to differ, not to resist anybody.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

}  // namespace

std::string_view Name(TuningPhase phase) { return NameOf(kPhases, phase); }
std::string_view Name(TuningEnd end) { return NameOf(kEnds, end); }
std::string_view Name(ObjectiveStatus status) { return NameOf(kObjectives, status); }
std::string_view Name(TrialStop stop) { return NameOf(kStops, stop); }
std::string_view Name(TrialResult result) { return NameOf(kResults, result); }

std::string_view PrimaryStatus(TuningPhase phase) {
  switch (phase) {
    case TuningPhase::kRunning:
    case TuningPhase::kFinishing:
    case TuningPhase::kFailing:
      return "InProgress";
    case TuningPhase::kStopping:
      return "Stopping";
    case TuningPhase::kCompleted:
      return "Completed";
    case TuningPhase::kFailed:
      return "Failed";
    case TuningPhase::kStopped:
      return "Stopped";
  }
  return "InProgress";
}

json::object TuningTrial::ToJson() const {
  json::object out{{"training_job", training_job},
                   {"tuning_job", tuning_job},
                   {"number", number},
                   {"definition", definition},
                   {"parameters", ParametersToJson(parameters)},
                   {"reason", reason},
                   {"created", ToUnixMillis(created)},
                   {"known", known},
                   {"stop", Name(stop)},
                   {"stop_note", stop_note},
                   {"result", Name(result)},
                   {"objective_status", Name(objective_status)},
                   {"failure", failure},
                   {"finished", finished},
                   {"seconds", seconds},
                   {"curve", CurveToJson(curve)}};
  if (resource) out["resource"] = *resource;
  if (continues) out["continues"] = *continues;
  if (objective) out["objective"] = *objective;
  return out;
}

Result<TuningTrial> TuningTrial::FromJson(const json::object& document) {
  TuningTrial trial;
  FieldReader in(document);
  in.Text("training_job", trial.training_job);
  in.Text("tuning_job", trial.tuning_job);
  in.Integer("number", trial.number);
  in.Text("definition", trial.definition);
  in.Text("reason", trial.reason);
  in.OptionalInteger("resource", trial.resource);
  in.OptionalInteger("continues", trial.continues);
  in.Time("created", trial.created);
  in.Integer("known", trial.known);
  in.Enum("stop", kStops, trial.stop);
  in.Text("stop_note", trial.stop_note);
  in.Enum("result", kResults, trial.result);
  in.Enum("objective_status", kObjectives, trial.objective_status);
  if (document.contains("objective")) in.Real("objective", trial.objective.emplace());
  in.Text("failure", trial.failure);
  in.Integer("finished", trial.finished);
  in.Real("seconds", trial.seconds);
  RETURN_IF_ERROR(in.status());
  RETURN_IF_ERROR(ReadParameters(document, trial.parameters));
  RETURN_IF_ERROR(ReadCurve(document, trial.curve));
  return trial;
}

int TuningJob::Created() const {
  return trials.completed + trials.in_progress + trials.retryable_error +
         trials.non_retryable_error + trials.stopped;
}

json::object TuningJob::ToJson() const {
  json::object out = WithoutRequest(*this);
  out["request"] = request.get();
  return out;
}

std::string TuningJob::ToText() const {
  return WithRequest(json::serialize(WithoutRequest(*this)), request);
}

Result<TuningJob> TuningJob::FromJson(const json::object& document) {
  TuningJob job;
  FieldReader in(document);
  in.Text("uid", job.uid);
  in.Text("name", job.name);
  in.Text("arn", job.arn);
  in.Text("region", job.region);
  in.Text("account", job.account);
  in.Time("created", job.created);
  in.Time("modified", job.modified);
  in.Object("request", job.request);
  in.Integer("seed", job.seed);
  in.Enum("phase", kPhases, job.phase);
  in.Enum("end", kEnds, job.end);
  in.Text("end_note", job.end_note);
  in.OptionalTime("ended", job.ended);
  in.Text("failure_reason", job.failure_reason);
  in.Integer("not_improving", job.not_improving);
  in.OptionalTime("converged", job.converged);
  in.OptionalTime("stop_requested", job.stop_requested);
  in.Texts("notes", job.notes);
  RETURN_IF_ERROR(in.status());
  RETURN_IF_ERROR(ReadCounters(document, job));
  RETURN_IF_ERROR(ReadBest(document, "best", job.best));
  RETURN_IF_ERROR(ReadBest(document, "overall_best", job.overall_best));
  return job;
}

std::vector<std::string> TuningJob::ParentNames() const {
  std::vector<std::string> names;
  const json::object* config = FindObject(request, "WarmStartConfig");
  const json::array* parents =
      config == nullptr ? nullptr : FindArray(*config, "ParentHyperParameterTuningJobs");
  if (parents == nullptr) return names;
  for (const json::value& parent : *parents) {
    if (!parent.is_object()) continue;
    names.push_back(GetString(parent.get_object(), "HyperParameterTuningJobName"));
  }
  return names;
}

Seconds ConsumedRuntime(const TuningJob& job, WallTime now) {
  const Millis run = job.ended.value_or(now) - job.created;
  return std::chrono::floor<Seconds>(std::max(run, Millis(0)));
}

std::string TrialName(const TuningJob& job, int number, int salt) {
  const std::uint64_t hash = HashOf(fmt::format("name {} {} {}", job.uid, number, salt));
  return fmt::format("{}-{:03}-{:08x}", job.name, number, hash & 0xffffffffu);
}

std::string TrialUid(const TuningJob& job, int number, int salt) {
  const std::uint64_t hash = HashOf(fmt::format("uid {} {} {}", job.uid, number, salt));
  return fmt::format("{:012x}", hash & 0xffffffffffffu);
}

std::string TuningJobArn(std::string_view region, std::string_view account, std::string_view name) {
  return fmt::format("arn:aws:sagemaker:{}:{}:hyper-parameter-tuning-job/{}", region, account,
                     name);
}

std::string TuningJobOfArn(std::string_view arn) {
  return std::string(arn.substr(arn.rfind('/') + 1));
}

}  // namespace sabia::model
