// A tuning job and its trials as the rows that keep them. Pure.
#pragma once

#include "model/tuning_job.h"
#include "store/resources.h"

namespace sabia::store {

// revision: of the row that was read; 0 for a new one. A finished job is not live. The status is
// HyperParameterTuningJobStatus.
Resource RowOf(const model::TuningJob& job, std::int64_t revision);
// kCorrupt when the document is not a tuning job.
Result<model::TuningJob> TuningJobOf(const Resource& row);

// Parent: the tuning job's name. Live until its result is recorded. The status is ObjectiveStatus.
// `modified` is when the record was changed, which is no fact of the trial.
Resource RowOf(const model::TuningTrial& trial, std::int64_t revision, WallTime modified);
Result<model::TuningTrial> TuningTrialOf(const Resource& row);

}  // namespace sabia::store
