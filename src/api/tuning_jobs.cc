#include "api/tuning_jobs.h"

#include <algorithm>

#include "api/job_requests.h"
#include "api/storage_rules.h"
#include "api/training_job_rules.h"
#include "api/trial_pages.h"
#include "api/tuning_job_rules.h"
#include "api/warm_start_rules.h"
#include "base/log.h"
#include "model/limits.h"
#include "model/tuning_request.h"
#include "store/training_job_row.h"
#include "store/tuning_job_row.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::Pass;
using wire::RefuseValidation;

// A controller writes a record a few times a second at most, so a handful of collisions in a row is
// a bug elsewhere.
constexpr int kChangeAttemptsMax = 16;

tl::unexpected<wire::AwsError> NameTaken(std::string_view name) {
  return wire::Refuse(
      "ResourceInUse", 400,
      "A hyperparameter tuning job with the name, {}, already exists. Choose a different name.",
      name);
}

std::string NameOf(const json::object& request) {
  return GetString(request, "HyperParameterTuningJobName");
}

}  // namespace

tl::unexpected<wire::AwsError> RefuseUnknownTuningJob(std::string_view name) {
  return wire::Refuse("ResourceNotFound", 400,
                      "Amazon SageMaker can't find a tuning job called {}. Type another name.",
                      name);
}

AwsResult<TuningJobs::Stored> TuningJobs::Load(std::string_view name) {
  auto row = resources_.Get(store::Kind::kTuningJob, name);
  if (!row) {
    if (row.error().code == ErrorCode::kNotFound) return RefuseUnknownTuningJob(name);
    return Pass(row.error());
  }
  auto job = store::TuningJobOf(*row);
  if (!job) return Pass(job.error());
  return Stored{std::move(*row), std::move(*job)};
}

AwsResult<TrialRecord> TuningJobs::WithTraining(model::TuningTrial trial) {
  TrialRecord record{std::move(trial), {}};
  const auto row = resources_.Get(store::Kind::kTrainingJob, record.trial.training_job);
  if (!row && row.error().code == ErrorCode::kNotFound) return record;
  if (!row) return Pass(row.error());
  auto training = store::TrainingJobOf(*row);
  if (!training) return Pass(training.error());
  record.training = std::move(*training);
  return record;
}

AwsResult<std::vector<TrialRecord>> TuningJobs::Trials(std::string_view tuning_job) {
  const auto rows = resources_.Children(store::Kind::kTuningTrial, tuning_job);
  if (!rows) return Pass(rows.error());
  std::vector<TrialRecord> out;
  for (const store::Resource& row : *rows) {
    auto trial = store::TuningTrialOf(row);
    if (!trial) return Pass(trial.error());
    ASSIGN_OR_RETURN(TrialRecord record, WithTraining(std::move(*trial)));
    out.push_back(std::move(record));
  }
  std::ranges::sort(out, {}, [](const TrialRecord& record) { return record.trial.number; });
  return out;
}

AwsResult<void> TuningJobs::CheckParents(const json::object& request) {
  const json::object* config = FindObject(request, "WarmStartConfig");
  if (config == nullptr) return {};
  std::vector<model::TuningJob> parents;
  for (const json::value& value : *FindArray(*config, "ParentHyperParameterTuningJobs")) {
    const std::string name = NameOf(value.get_object());
    if (name.empty()) {
      return RefuseValidation(
          "HyperParameterTuningJobName must be given for each of ParentHyperParameterTuningJobs");
    }
    auto parent = Load(name);
    if (!parent && parent.error().code == "ResourceNotFound") {
      return RefuseValidation("{}", parent.error().message);
    }
    if (!parent) return tl::make_unexpected(std::move(parent).error());
    parents.push_back(std::move(parent->job));
  }
  return CheckWarmStart(request, parents);
}

AwsResult<void> TuningJobs::CheckStored(const wire::CallContext& context,
                                        const json::object& request) {
  RETURN_IF_ERROR(CheckParents(request));
  for (const model::TuningDefinition& definition : model::TuningDefinitionsOf(request)) {
    const json::object training = model::TrainingRequestOf(instances_, *definition.definition);
    RETURN_IF_ERROR(AboutDefinition(definition, CheckStorage(buckets_, context, training)));
    // Training jobs get the search's tags, and live by them.
    if (const auto deadline = model::DeadlineOf(TagsOf(request), training); !deadline) {
      return RefuseValidation("{}: {}", definition.path, deadline.error().message);
    }
  }
  return {};
}

// The job that the request asks for, or why there can be none. Takes what it needs of the request.
AwsResult<model::TuningJob> TuningJobs::Accept(const wire::CallContext& context,
                                               json::object& request, store::Tags& tags) {
  RETURN_IF_ERROR(AcceptTuningRequest(instances_, request));
  std::string name = NameOf(request);
  if (auto usable = CheckStored(context, request); !usable) {
    // A name that is taken is said first. Otherwise the commit finds that out.
    if (resources_.Get(store::Kind::kTuningJob, name)) return NameTaken(name);
    return tl::make_unexpected(std::move(usable).error());
  }
  tags = TagsOf(request);
  request.erase("Tags");  // they live beside the record and change without it
  const auto seed = FindInt(*FindObject(request, "HyperParameterTuningJobConfig"), "RandomSeed");
  std::vector<std::string> notes = NotesOnTuningRequest(instances_, request);
  std::string arn = model::TuningJobArn(context.region, context.principal.account, name);
  return model::TuningJob{.uid = random_.Hex(12),
                          .name = std::move(name),
                          .arn = std::move(arn),
                          .region = context.region,
                          .account = context.principal.account,
                          .created = context.now,
                          .modified = context.now,
                          .request = std::move(request),
                          .seed = seed ? *seed : static_cast<std::int64_t>(random_.Next() >> 33),
                          .notes = std::move(notes)};
}

TuningJobs::Answer TuningJobs::Create(const wire::CallContext& context, json::object request) {
  store::Tags tags;
  ASSIGN_OR_RETURN(const model::TuningJob job, Accept(context, request, tags));
  const Status written = resources_.Commit(
      {{store::Change::Op::kInsert, store::RowOf(job, 0), std::move(tags), job.arn}});
  if (!written && written.error().code == ErrorCode::kAlreadyExists) return NameTaken(job.name);
  if (!written) return Pass(written.error());
  LogInfo("tuning job '{}' accepted: strategy {}", job.name,
          GetString(*FindObject(job.request, "HyperParameterTuningJobConfig"), "Strategy"));
  return json::object{{"HyperParameterTuningJobArn", job.arn}};
}

AwsResult<std::optional<json::object>> TuningJobs::BestView(
    const std::optional<model::TuningBest>& best) {
  if (!best) return std::nullopt;
  const auto row = resources_.Get(store::Kind::kTuningTrial, best->training_job);
  // Of a parent that was deleted meanwhile.
  if (!row && row.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!row) return Pass(row.error());
  auto trial = store::TuningTrialOf(*row);
  if (!trial) return Pass(trial.error());
  auto owner = Load(best->tuning_job);
  if (!owner && owner.error().code == "ResourceNotFound") return std::nullopt;
  if (!owner) return tl::make_unexpected(std::move(owner).error());
  ASSIGN_OR_RETURN(const TrialRecord record, WithTraining(std::move(*trial)));
  return TrialSummaryView(owner->job, record);
}

AwsResult<void> TuningJobs::AddBest(const model::TuningJob& job, json::object& out) {
  ASSIGN_OR_RETURN(auto best, BestView(job.best));
  if (best) out["BestTrainingJob"] = std::move(*best);
  ASSIGN_OR_RETURN(auto overall, BestView(job.overall_best));
  if (overall) out["OverallBestTrainingJob"] = std::move(*overall);
  return {};
}

TuningJobs::Answer TuningJobs::Describe(const wire::CallContext& context,
                                        const json::object& request) {
  ASSIGN_OR_RETURN(const Stored stored, Load(NameOf(request)));
  json::object out = DescribeView(stored.job, instances_, context.now);
  RETURN_IF_ERROR(AddBest(stored.job, out));
  return out;
}

TuningJobs::Answer TuningJobs::List(const json::object& request) {
  const auto page =
      resources_.List(ListQueryOf(store::Kind::kTuningJob, request, {"Name", "Ascending"}));
  if (!page && page.error().code == ErrorCode::kInvalidArgument) {
    return RefuseValidation("Invalid NextToken: {}", page.error().message);
  }
  if (!page) return Pass(page.error());
  json::array summaries;
  for (const store::Resource& row : page->rows) {
    const auto job = store::TuningJobOf(row);
    if (!job) return Pass(job.error());
    summaries.push_back(SummaryView(*job));
  }
  json::object out{{"HyperParameterTuningJobSummaries", std::move(summaries)}};
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

TuningJobs::Answer TuningJobs::ListTrials(const json::object& request) {
  ASSIGN_OR_RETURN(const Stored stored, Load(NameOf(request)));
  ASSIGN_OR_RETURN(std::vector<TrialRecord> trials, Trials(stored.job.name));
  ASSIGN_OR_RETURN(const TrialPage page, PageOfTrials(std::move(trials), request));
  json::array summaries;
  for (const TrialRecord& record : page.trials) {
    summaries.push_back(TrialSummaryView(stored.job, record));
  }
  json::object out{{"TrainingJobSummaries", std::move(summaries)}};
  if (!page.next_token.empty()) out["NextToken"] = page.next_token;
  return out;
}

TuningJobs::Answer TuningJobs::Stop(const wire::CallContext& context, const json::object& request) {
  const std::string name = NameOf(request);
  for (int attempt = 0; attempt < kChangeAttemptsMax; ++attempt) {
    ASSIGN_OR_RETURN(Stored stored, Load(name));
    if (model::IsTerminal(stored.job.phase)) {
      return RefuseValidation(
          "The request was rejected because the hyperparameter tuning job '{}' is already in "
          "status {}.",
          name, model::PrimaryStatus(stored.job.phase));
    }
    if (stored.job.stop_requested) return json::object{};  // asked before: the same wish
    stored.job.stop_requested = context.now;
    stored.job.modified = std::max(stored.job.modified, context.now);
    const Status written = resources_.Commit(
        {{store::Change::Op::kUpdate, store::RowOf(stored.job, stored.row.revision), {}, {}}});
    if (written) return json::object{};
    if (written.error().code == ErrorCode::kNotFound) return RefuseUnknownTuningJob(name);
    if (written.error().code != ErrorCode::kConflict) return Pass(written.error());
  }
  return wire::Refuse("ThrottlingException", 400,
                      "Rate exceeded: tuning job '{}' is changing too fast", name);
}

TuningJobs::Answer TuningJobs::Delete(const json::object& request) {
  ASSIGN_OR_RETURN(Stored stored, Load(NameOf(request)));
  if (!model::IsTerminal(stored.job.phase) || stored.row.live) {
    return RefuseValidation(
        "Hyperparameter tuning job '{}' cannot be deleted: it is not in a terminal state (it is "
        "{}). Stop it and wait until it has ended.",
        stored.job.name, model::PrimaryStatus(stored.job.phase));
  }
  std::vector<store::Change> changes;
  changes.push_back({store::Change::Op::kDelete, stored.row, {}, stored.job.arn});
  auto trials = resources_.Children(store::Kind::kTuningTrial, stored.job.name);
  if (!trials) return Pass(trials.error());
  for (store::Resource& trial : *trials) {
    changes.push_back({store::Change::Op::kDelete, std::move(trial), {}, {}});
  }
  const Status deleted = resources_.Commit(changes);
  if (deleted) return json::object{};
  if (deleted.error().code == ErrorCode::kNotFound) return RefuseUnknownTuningJob(stored.job.name);
  if (deleted.error().code == ErrorCode::kConflict) {
    return RefuseValidation(
        "Hyperparameter tuning job '{}' cannot be deleted: it is being changed; try again",
        stored.job.name);
  }
  return Pass(deleted.error());
}

void RegisterTuningJobs(wire::ActionTable& table, TuningJobs& jobs) {
  using wire::CallContext;
  const auto add = [&table](const char* action, wire::ActionHandler handler) {
    table.Add("sagemaker", action, std::move(handler));
  };
  add("CreateHyperParameterTuningJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Create(c, in); });
  add("DescribeHyperParameterTuningJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Describe(c, in); });
  add("ListHyperParameterTuningJobs",
      [&jobs](const CallContext&, const json::object& in) { return jobs.List(in); });
  add("ListTrainingJobsForHyperParameterTuningJob",
      [&jobs](const CallContext&, const json::object& in) { return jobs.ListTrials(in); });
  add("StopHyperParameterTuningJob",
      [&jobs](const CallContext& c, const json::object& in) { return jobs.Stop(c, in); });
  add("DeleteHyperParameterTuningJob",
      [&jobs](const CallContext&, const json::object& in) { return jobs.Delete(in); });
}

}  // namespace sabia::api
