#include "store/training_job_row.h"

#include "model/tuning_job.h"

namespace sabia::store {

Resource RowOf(const model::TrainingJob& job, std::int64_t revision) {
  Resource row;
  row.kind = Kind::kTrainingJob;
  row.name = job.name;
  row.status = model::PrimaryStatus(job.phase);
  row.created = job.created;
  row.modified = job.modified;
  row.live = !model::IsTerminal(job.phase) || model::HoldsPool(job);
  if (!job.tuning_job_arn.empty()) row.parent = model::TuningJobOfArn(job.tuning_job_arn);
  row.revision = revision;
  row.document = job.ToText();
  return row;
}

Result<model::TrainingJob> TrainingJobOf(const Resource& row) {
  const auto corrupt = [&](const Error& error) {
    return Fail(ErrorCode::kCorrupt, "the record of training job '{}' is damaged: {}", row.name,
                error.message);
  };
  const auto document = ParseJsonObject(row.document);
  if (!document) return corrupt(document.error());
  auto job = model::TrainingJob::FromJson(*document);
  if (!job) return corrupt(job.error());
  return job;
}

}  // namespace sabia::store
