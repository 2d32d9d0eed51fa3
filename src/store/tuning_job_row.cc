#include "store/tuning_job_row.h"

namespace sabia::store {
namespace {

template <typename T>
Result<T> Read(const Resource& row) {
  const auto corrupt = [&](const Error& error) {
    return Fail(ErrorCode::kCorrupt, "the record of {} '{}' is damaged: {}", Name(row.kind),
                row.name, error.message);
  };
  const auto document = ParseJsonObject(row.document);
  if (!document) return corrupt(document.error());
  auto read = T::FromJson(*document);
  if (!read) return corrupt(read.error());
  return read;
}

}  // namespace

Resource RowOf(const model::TuningJob& job, std::int64_t revision) {
  Resource row;
  row.kind = Kind::kTuningJob;
  row.name = job.name;
  row.status = model::PrimaryStatus(job.phase);
  row.created = job.created;
  row.modified = job.modified;
  row.live = !model::IsTerminal(job.phase);
  row.revision = revision;
  row.document = job.ToText();
  return row;
}

Result<model::TuningJob> TuningJobOf(const Resource& row) { return Read<model::TuningJob>(row); }

Resource RowOf(const model::TuningTrial& trial, std::int64_t revision, WallTime modified) {
  Resource row;
  row.kind = Kind::kTuningTrial;
  row.name = trial.training_job;
  row.status = model::Name(trial.objective_status);
  row.created = trial.created;
  row.modified = modified;
  row.live = !trial.ended();
  row.parent = trial.tuning_job;
  row.revision = revision;
  row.document = json::serialize(trial.ToJson());
  return row;
}

Result<model::TuningTrial> TuningTrialOf(const Resource& row) {
  return Read<model::TuningTrial>(row);
}

}  // namespace sabia::store
