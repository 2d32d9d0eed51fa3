// A tuning job and its trials as DescribeHyperParameterTuningJob, ListHyperParameterTuningJobs and
// ListTrainingJobsForHyperParameterTuningJob print them.
//
// Functions of stored records alone. Source: the SageMaker API reference. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "model/instance_catalog.h"
#include "model/training_job.h"
#include "model/tuning_job.h"

namespace sabia::api {

// Of a trial and its training job; nothing once that was deleted.
struct TrialRecord {
  model::TuningTrial trial;
  std::optional<model::TrainingJob> training;
};

// Of the training job; when that was deleted, what it must have been.
std::string_view TrialStatus(const TrialRecord& record);

// HyperParameterTrainingJobSummary. job: the tuning job that the trial belongs to.
json::object TrialSummaryView(const model::TuningJob& job, const TrialRecord& record);

// Without BestTrainingJob and OverallBestTrainingJob, which other records tell. Definitions show
// their ResourceConfig also when they were given HyperParameterTuningResourceConfig: SDKs that
// attach to a tuning job read it.
json::object DescribeView(const model::TuningJob& job, const model::InstanceCatalog& instances,
                          WallTime now);
json::object SummaryView(const model::TuningJob& job);

}  // namespace sabia::api
