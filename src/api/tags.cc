#include "api/tags.h"

#include <algorithm>
#include <set>

#include "api/training_jobs.h"
#include "api/tuning_jobs.h"
#include "model/limits.h"
#include "model/training_request.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::CallContext;
using wire::RefuseValidation;

// "…:training-job/<name>" or "…:hyper-parameter-tuning-job/<name>" of a job that exists here.
AwsResult<std::string> ExistingArn(store::Resources& resources, const CallContext& context,
                                   const json::object& request) {
  const std::string arn = GetString(request, "ResourceArn");
  const std::string& account = context.principal.account;
  const std::string training = model::TrainingJobArn(context.region, account, "");
  const std::string tuning = model::TuningJobArn(context.region, account, "");
  const bool is_tuning = arn.starts_with(tuning);
  if (!is_tuning && !arn.starts_with(training)) {
    return RefuseValidation(
        "Resource {} cannot be tagged here: tags are kept for resources of this region and account "
        "({}<name>, {}<name>)",
        arn, training, tuning);
  }
  const std::string name = arn.substr((is_tuning ? tuning : training).size());
  const auto row =
      resources.Get(is_tuning ? store::Kind::kTuningJob : store::Kind::kTrainingJob, name);
  if (row) return arn;
  if (row.error().code != ErrorCode::kNotFound) return wire::Pass(row.error());
  if (is_tuning) return RefuseUnknownTuningJob(name);
  return RefuseUnknownTrainingJob();
}

AwsResult<void> CheckKey(const std::string& key, std::set<std::string>& seen) {
  if (!seen.insert(key).second) {
    return RefuseValidation("Tag keys must be unique, and '{}' is given twice", key);
  }
  if (key.starts_with("aws:")) {
    return RefuseValidation("Tag key '{}' is not allowed: the prefix aws: is reserved", key);
  }
  return {};
}

json::array ToJson(const store::Tags& tags, std::size_t begin, std::size_t end) {
  json::array out;
  for (std::size_t i = begin; i < end; ++i) {
    out.push_back({{"Key", tags[i].first}, {"Value", tags[i].second}});
  }
  return out;
}

AwsResult<void> Commit(store::Resources& resources, store::Change change) {
  const std::string arn = change.arn;
  const Status written = resources.Commit({std::move(change)});
  if (written) return {};
  if (written.error().code == ErrorCode::kResourceExhausted) {
    return wire::Refuse("ResourceLimitExceeded", 400, "Resource {} cannot have more than {} tags",
                        arn, model::kTagsPerResourceMax);
  }
  return wire::Pass(written.error());
}

AwsResult<json::object> AddTags(store::Resources& resources, const CallContext& context,
                                const json::object& request) {
  ASSIGN_OR_RETURN(const std::string arn, ExistingArn(resources, context, request));
  store::Change change;
  change.op = store::Change::Op::kSetTags;
  change.arn = arn;
  std::set<std::string> seen;
  for (const json::value& value : *FindArray(request, "Tags")) {
    const json::object& tag = value.get_object();
    RETURN_IF_ERROR(CheckKey(GetString(tag, "Key"), seen));
    change.tags.emplace_back(GetString(tag, "Key"), GetString(tag, "Value"));
  }
  if (!change.tags.empty()) RETURN_IF_ERROR(Commit(resources, std::move(change)));
  const auto all = resources.GetTags(arn);
  if (!all) return wire::Pass(all.error());
  return json::object{{"Tags", ToJson(*all, 0, all->size())}};
}

AwsResult<json::object> DeleteTags(store::Resources& resources, const CallContext& context,
                                   const json::object& request) {
  ASSIGN_OR_RETURN(const std::string arn, ExistingArn(resources, context, request));
  store::Change change;
  change.op = store::Change::Op::kRemoveTags;
  change.arn = arn;
  for (const json::value& key : *FindArray(request, "TagKeys")) {
    change.tags.emplace_back(View(key.get_string()), "");
  }
  RETURN_IF_ERROR(Commit(resources, std::move(change)));
  return json::object{};
}

// A token is the key of the last tag seen, so that a page is stable while tags are added behind it.
AwsResult<json::object> ListTags(store::Resources& resources, const CallContext& context,
                                 const json::object& request) {
  ASSIGN_OR_RETURN(const std::string arn, ExistingArn(resources, context, request));
  const auto tags = resources.GetTags(arn);
  if (!tags) return wire::Pass(tags.error());
  std::size_t begin = 0;
  if (const auto token = FindString(request, "NextToken")) {
    const auto last = std::find_if(tags->begin(), tags->end(),
                                   [&](const auto& tag) { return tag.first == *token; });
    if (last == tags->end())
      return RefuseValidation("Invalid NextToken: it names no tag of this resource");
    begin = static_cast<std::size_t>(last - tags->begin()) + 1;
  }
  const auto limit = static_cast<std::size_t>(
      GetInt(request, "MaxResults", static_cast<std::int64_t>(model::kTagsPageDefault)));
  const std::size_t end = std::min(tags->size(), begin + limit);
  json::object out{{"Tags", ToJson(*tags, begin, end)}};
  if (end < tags->size()) out["NextToken"] = (*tags)[end - 1].first;
  return out;
}

}  // namespace

void RegisterTags(wire::ActionTable& table, store::Resources& resources) {
  const auto add = [&](const char* action, auto function) {
    table.Add("sagemaker", action,
              [&resources, function](const CallContext& context, const json::object& request) {
                return function(resources, context, request);
              });
  };
  add("AddTags", AddTags);
  add("ListTags", ListTags);
  add("DeleteTags", DeleteTags);
}

}  // namespace sabia::api
