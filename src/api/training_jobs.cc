#include "api/training_jobs.h"

#include <algorithm>

#include "api/job_requests.h"
#include "api/storage_rules.h"
#include "api/training_job_fields.h"
#include "api/training_job_rules.h"
#include "api/training_job_view.h"
#include "base/log.h"
#include "model/limits.h"
#include "model/training_request.h"
#include "store/training_job_row.h"

namespace sabia::api {
namespace {

using wire::AwsError;
using wire::AwsResult;
using wire::Pass;
using wire::RefuseValidation;

// A controller writes a record a few times a second at most, so a handful of collisions in a row is
// a bug elsewhere.
constexpr int kChangeAttemptsMax = 16;

tl::unexpected<AwsError> NameTaken(std::string_view arn) {
  return wire::Refuse(
      "ResourceInUse", 400,
      "Training job names must be unique within an AWS account and region, and a training "
      "job with this name already exists ({})",
      arn);
}

std::string NameOf(const json::object& request) { return GetString(request, "TrainingJobName"); }

// Nearly no job does, so the others need not be decoded.
bool MayHavePool(const store::Resource& row) {
  return row.document.find("\"warm_pool\"") != row.document.npos;
}

void FilterByPool(std::string_view status, store::ListQuery& query) {
  query.filter_identity = "WarmPoolStatusEquals=" + std::string(status);
  query.filter = [status = std::string(status)](const store::Resource& row) {
    if (!MayHavePool(row)) return false;
    const auto job = store::TrainingJobOf(row);
    return job && job->warm_pool && Name(job->warm_pool->state) == status;
  };
}

store::ListQuery QueryOf(const json::object& request) {
  store::ListQuery query =
      ListQueryOf(store::Kind::kTrainingJob, request, {"CreationTime", "Descending"});
  if (const auto status = FindString(request, "WarmPoolStatusEquals")) FilterByPool(*status, query);
  return query;
}

}  // namespace

tl::unexpected<AwsError> RefuseUnknownTrainingJob() {
  return RefuseValidation("Requested resource not found.");
}

AwsResult<store::Resource> FindTrainingJob(store::Resources& resources, std::string_view name) {
  auto row = resources.Get(store::Kind::kTrainingJob, name);
  if (row) return std::move(*row);
  if (row.error().code == ErrorCode::kNotFound) return RefuseUnknownTrainingJob();
  return Pass(row.error());
}

AwsResult<model::TrainingJob> DecodeTrainingJob(const store::Resource& row) {
  auto job = store::TrainingJobOf(row);
  if (!job) return Pass(job.error());
  return std::move(*job);
}

AwsResult<TrainingJobs::Stored> TrainingJobs::Load(std::string_view name) {
  ASSIGN_OR_RETURN(store::Resource row, FindTrainingJob(resources_, name));
  ASSIGN_OR_RETURN(model::TrainingJob job, DecodeTrainingJob(row));
  return Stored{std::move(row), std::move(job)};
}

AwsResult<void> TrainingJobs::Change(const wire::CallContext& context, std::string_view name,
                                     const Edit& edit) {
  for (int attempt = 0; attempt < kChangeAttemptsMax; ++attempt) {
    ASSIGN_OR_RETURN(Stored stored, Load(name));
    ASSIGN_OR_RETURN(const bool changed, edit(stored.job));
    if (!changed) return {};
    stored.job.modified = std::max(stored.job.modified, context.now);
    const Status written = resources_.Commit(
        {{store::Change::Op::kUpdate, store::RowOf(stored.job, stored.row.revision), {}, {}}});
    if (written) return {};
    if (written.error().code == ErrorCode::kNotFound) return RefuseUnknownTrainingJob();
    if (written.error().code != ErrorCode::kConflict) return Pass(written.error());
  }
  return wire::Refuse("ThrottlingException", 400,
                      "Rate exceeded: training job '{}' is changing too fast", name);
}

// The job that the request asks for, or why there can be none. Takes what it needs of the request.
AwsResult<model::TrainingJob> TrainingJobs::Accept(const wire::CallContext& context,
                                                   json::object& request, store::Tags& tags) {
  RETURN_IF_ERROR(RefuseUnsupportedFields(CreateTrainingJobFields(), request));
  model::CompleteTrainingRequest(request);
  RETURN_IF_ERROR(CheckRequest(request));
  RETURN_IF_ERROR(CheckInstanceTypes(instances_, request));
  const std::string name = NameOf(request);
  const std::string arn = model::TrainingJobArn(context.region, context.principal.account, name);
  if (auto usable = CheckStorage(buckets_, context, request); !usable) {
    // A name that is taken is said first. Otherwise the commit finds that out.
    if (resources_.Get(store::Kind::kTrainingJob, name)) return NameTaken(arn);
    return tl::make_unexpected(std::move(usable).error());
  }
  std::vector<std::string> notes = NotesOnRequest(request);
  tags = TagsOf(request);
  const auto deadline = model::DeadlineOf(tags, request);
  if (!deadline) return RefuseValidation("{}", deadline.error().message);
  request.erase("Tags");  // they live beside the record and change without it
  model::TrainingJob job = model::NewTrainingJob(
      std::move(request),
      {random_.Hex(12), context.region, context.principal.account, context.now});
  job.deadline = *deadline;
  job.notes = std::move(notes);
  return job;
}

void TrainingJobs::Create(const wire::CallContext& context, json::object request,
                          const wire::LaterReply& reply) {
  store::Tags tags;
  auto accepted = Accept(context, request, tags);
  if (!accepted) return reply(tl::make_unexpected(std::move(accepted).error()));
  const auto job = std::make_shared<model::TrainingJob>(std::move(*accepted));
  std::vector<store::Change> changes;
  changes.push_back({store::Change::Op::kInsert, store::RowOf(*job, 0), std::move(tags), job->arn,
                     accepted_ != nullptr});
  resources_.CommitLater(std::move(changes), [this, job, reply](const Status& written) {
    if (!written) {
      return reply(written.error().code == ErrorCode::kAlreadyExists ? NameTaken(job->arn)
                                                                     : Pass(written.error()));
    }
    LogInfo("training job '{}' accepted: {} x {}, {}", job->name, job->InstanceCount(),
            GetString(*FindObject(job->request, "ResourceConfig"), "InstanceType", "groups"),
            job->IsSpot() ? "spot" : "on-demand");
    json::object answer{{"TrainingJobArn", job->arn}};
    if (accepted_) accepted_(std::make_unique<model::TrainingJob>(std::move(*job)));
    reply(std::move(answer));
  });
}

AwsResult<wire::EncodedAnswer> TrainingJobs::Describe(const wire::CallContext& context,
                                                      const json::object& request) {
  const std::string_view name = FindString(request, "TrainingJobName").value_or("");
  ASSIGN_OR_RETURN(const store::Resource row, FindTrainingJob(resources_, name));
  // A job that waits is shown as waiting from then on, without a change of its record.
  const bool aged = context.now >= row.created + model::kShowWaitingAfter;
  const auto encode = [&]() -> AwsResult<wire::EncodedAnswer> {
    ASSIGN_OR_RETURN(model::TrainingJob job, DecodeTrainingJob(row));
    if (aged) model::ShowWaiting(job, context.now);
    return std::make_shared<const std::string>(json::serialize(DescribeView(job, context.now)));
  };
  if (MayHavePool(row)) return encode();  // what it says may change with the time
  return described_.Get({name, row.document, aged}, [&](std::string_view) { return encode(); });
}

TrainingJobs::Answer TrainingJobs::List(const wire::CallContext& context,
                                        const json::object& request) {
  json::array summaries;
  json::object out;
  // No job has a training plan (refused at create), so no job matches this filter.
  const bool matches_none = request.contains("TrainingPlanArnEquals");
  if (!matches_none) {
    const auto page = resources_.List(QueryOf(request));
    if (!page && page.error().code == ErrorCode::kInvalidArgument) {
      return RefuseValidation("Invalid NextToken: {}", page.error().message);
    }
    if (!page) return Pass(page.error());
    for (const store::Resource& row : page->rows) {
      ASSIGN_OR_RETURN(model::TrainingJob job, DecodeTrainingJob(row));
      model::ShowWaiting(job, context.now);
      summaries.push_back(SummaryView(job, context.now));
    }
    if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  }
  out["TrainingJobSummaries"] = std::move(summaries);
  return out;
}

TrainingJobs::Answer TrainingJobs::Stop(const wire::CallContext& context,
                                        const json::object& request) {
  RETURN_IF_ERROR(Change(context, NameOf(request), [&](model::TrainingJob& job) -> AwsResult<bool> {
    if (model::IsTerminal(job.phase)) {
      return RefuseValidation("The request was rejected because the training job is in status {}.",
                              model::PrimaryStatus(job.phase));
    }
    return model::RequestStop(job, context.now);
  }));
  return json::object{};
}

namespace {

// Whether it changes; 0 gives the instances back.
AwsResult<bool> UpdateKeepAlive(const json::object& request, WallTime now,
                                model::TrainingJob& job) {
  const std::int64_t seconds =
      GetInt(*FindObject(request, "ResourceConfig"), "KeepAlivePeriodInSeconds");
  if (!model::HoldsPool(job)) {
    const std::string_view status = job.warm_pool ? Name(job.warm_pool->state) : "none";
    return RefuseValidation(
        "KeepAlivePeriodInSeconds can be updated only while the warm pool of the training job is "
        "in status Available; training job '{}' is in status {}, its warm pool in status {}",
        job.name, model::PrimaryStatus(job.phase), status);
  }
  if (request.contains("ProfilerConfig")) {
    return RefuseValidation(
        "The request was rejected because the training job is in status {}: ProfilerConfig cannot "
        "be updated with KeepAlivePeriodInSeconds",
        model::PrimaryStatus(job.phase));
  }
  if (job.KeepAlive() == Seconds(seconds)) return false;
  job.warm_pool->updated = now;
  job.request.Edit()["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] = seconds;
  return true;
}

}  // namespace

TrainingJobs::Answer TrainingJobs::Update(const wire::CallContext& context,
                                          const json::object& request) {
  ASSIGN_OR_RETURN(const Stored before, Load(NameOf(request)));
  static constexpr std::array kRules = {
      FieldRule{"ProfilerRuleConfigurations", Treatment::kRefusedIfSet,
                "Profiler rule jobs are not implemented"},
      FieldRule{"RemoteDebugConfig.EnableRemoteDebug", Treatment::kRefusedIfSet,
                "sessions through Systems Manager are not implemented"}};
  RETURN_IF_ERROR(RefuseUnsupportedFields(kRules, request));
  RETURN_IF_ERROR(Change(context, before.job.name, [&](model::TrainingJob& job) -> AwsResult<bool> {
    if (FindObject(request, "ResourceConfig") != nullptr)
      return UpdateKeepAlive(request, context.now, job);
    const std::string_view status = model::PrimaryStatus(job.phase);
    if (status != "InProgress") {
      return RefuseValidation("The request was rejected because the training job is in status {}.",
                              status);
    }
    const json::object* profiler = FindObject(request, "ProfilerConfig");
    if (profiler == nullptr) return false;
    json::value& slot = job.request.Edit()["ProfilerConfig"];
    if (!slot.is_object()) slot = json::object();
    for (const auto& [key, value] : *profiler) slot.get_object()[key] = value;
    return true;
  }));
  return json::object{{"TrainingJobArn", before.job.arn}};
}

TrainingJobs::Answer TrainingJobs::Delete(const json::object& request) {
  ASSIGN_OR_RETURN(const Stored stored, Load(NameOf(request)));
  if (model::HoldsPool(stored.job)) {
    return wire::Refuse(
        "ResourceInUse", 400,
        "The training job {} cannot be deleted because it retains a warm pool in status Available. "
        "Update KeepAlivePeriodInSeconds to 0 to terminate it, or wait until it has ended.",
        stored.job.arn);
  }
  if (!model::IsTerminal(stored.job.phase) || stored.row.live) {
    return wire::Refuse(
        "ResourceInUse", 400,
        "The training job {} cannot be deleted because it is in status {}. Stop it and wait "
        "until it has ended.",
        stored.job.arn, model::PrimaryStatus(stored.job.phase));
  }
  const Status deleted =
      resources_.Commit({{store::Change::Op::kDelete, stored.row, {}, stored.job.arn}});
  if (deleted) return json::object{};
  if (deleted.error().code == ErrorCode::kNotFound) return RefuseUnknownTrainingJob();
  if (deleted.error().code == ErrorCode::kConflict) {
    return wire::Refuse("ResourceInUse", 400, "The training job {} is being changed; try again",
                        stored.job.arn);
  }
  return Pass(deleted.error());
}

TrainingJobs::Answer TrainingJobs::InterruptSpot(const wire::CallContext& context,
                                                 const json::object& request) {
  const std::string name = NameOf(request);
  if (name.empty())
    return RefuseNull("trainingJobName");  // no schema has checked an extension's input
  json::object out{{"TrainingJobName", name}};
  RETURN_IF_ERROR(Change(context, name, [&](model::TrainingJob& job) -> AwsResult<bool> {
    if (!job.IsSpot()) {
      return RefuseValidation(
          "Training job '{}' does not use managed spot training: its instances cannot be "
          "reclaimed. Create it with EnableManagedSpotTraining.",
          name);
    }
    const bool running = job.phase == model::TrainingPhase::kLaunching ||
                         job.phase == model::TrainingPhase::kDownloading ||
                         job.phase == model::TrainingPhase::kTraining ||
                         job.phase == model::TrainingPhase::kUploading ||
                         job.phase == model::TrainingPhase::kInterrupting;
    if (!running || job.attempts.empty() || job.attempts.back().ended) {
      return RefuseValidation(
          "Training job '{}' has no instances to reclaim: it is in status {} ({})", name,
          model::PrimaryStatus(job.phase), job.secondary_status);
    }
    if (!job.attempts.back().spot) {
      return RefuseValidation(
          "Training job '{}' runs on demand at present, as its deadline policy chose: there is no "
          "spot capacity to reclaim",
          name);
    }
    const int attempt = job.attempts.back().number;
    const bool asked_before = job.interrupt_attempt == attempt;
    if (!asked_before) {
      job.interrupt_attempt = attempt;
      job.reclaim_at = context.now + options_.spot_notice;
    }
    out["Attempt"] = attempt;
    out["ReclaimAt"] = ToUnixSeconds(job.reclaim_at.value_or(context.now));
    return !asked_before;
  }));
  return out;
}

void RegisterTrainingJobs(wire::ActionTable& table, TrainingJobs& jobs) {
  using wire::CallContext;
  const auto add = [&table](const char* action, wire::ActionHandler handler) {
    table.Add("sagemaker", action, std::move(handler));
  };
  table.AddLater("sagemaker", "CreateTrainingJob",
                 [&jobs](const CallContext& c, json::object in, const wire::LaterReply& reply) {
                   jobs.Create(c, std::move(in), reply);
                 });
  table.AddEncoded(
      "sagemaker", "DescribeTrainingJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Describe(c, in); });
  add("ListTrainingJobs",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.List(c, in); });
  add("StopTrainingJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Stop(c, in); });
  add("UpdateTrainingJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Update(c, in); });
  add("DeleteTrainingJob",
      [&jobs](const CallContext&, const json::object& in) { return jobs.Delete(in); });
}

}  // namespace sabia::api
