#include "api/job_record.h"

#include "api/training_jobs.h"
#include "model/instance_record.h"
#include "model/json_fields.h"

namespace sabia::api {
namespace {

json::object LagOf(std::string_view host, const model::Report& report) {
  json::object out{{"host", host},
                   {"files", report.checkpoint_files},
                   {"pending_bytes", report.checkpoint_pending_bytes}};
  model::AddTime(out, "synced_at", report.checkpoint_synced_at);
  model::AddTime(out, "written_at", report.checkpoint_written_at);
  return out;
}

}  // namespace

wire::AwsResult<json::object> DescribeJobRecord(store::Resources& resources,
                                                const ReportOf& report_of,
                                                const json::object& request) {
  const std::string name = GetString(request, "TrainingJobName");
  ASSIGN_OR_RETURN(const store::Resource row, FindTrainingJob(resources, name));
  auto document = ParseJsonObject(row.document);
  if (!document) return wire::Pass(document.error());
  const json::object* job = FindObject(*document, "request");
  if (job == nullptr || FindObject(*job, "CheckpointConfig") == nullptr) return *document;
  const auto instances = resources.Children(store::Kind::kInstance, name);
  if (!instances) return wire::Pass(instances.error());
  json::array lags;
  for (const store::Resource& instance : *instances) {
    const auto lease = ParseJsonObject(instance.document);
    const auto record = lease ? model::InstanceRecord::FromJson(*lease)
                              : Result<model::InstanceRecord>(tl::make_unexpected(lease.error()));
    const auto report = report_of(instance.name);
    if (record && report) lags.push_back(LagOf(record->Host(), *report));
  }
  if (!lags.empty()) (*document)["checkpoints"] = std::move(lags);
  return *document;
}

}  // namespace sabia::api
