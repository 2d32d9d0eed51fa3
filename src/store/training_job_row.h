// A training job as the row that keeps it. Pure.
#pragma once

#include "model/training_job.h"
#include "store/resources.h"

namespace sabia::store {

// revision: of the row that was read; 0 for a new one. A finished job is not live unless it holds a
// warm pool: controllers have no more work with it. The parent is the tuning job's name, for a
// trial.
Resource RowOf(const model::TrainingJob& job, std::int64_t revision);
// kCorrupt when the document is not a training job.
Result<model::TrainingJob> TrainingJobOf(const Resource& row);

}  // namespace sabia::store
