// A training job as DescribeTrainingJob and ListTrainingJobs print it.
//
// Both are functions of the stored record, so an answer can be kept for as long as the record's
// revision stands; but for jobs whose instances wait, which cost more with every second. Source:
// DescribeTrainingJob and TrainingJobSummary of the SageMaker API reference. Pure; any thread.
#pragma once

#include "base/json.h"
#include "model/training_job.h"

namespace sabia::api {

json::object DescribeView(const model::TrainingJob& job, WallTime now);
json::object SummaryView(const model::TrainingJob& job, WallTime now);

}  // namespace sabia::api
