// Why a search went the way it went, for `sabia tune explain`, behind /-/tune/explain: an
// extension, not part of the AWS API.
//
// {"HyperParameterTuningJobName"} → {"HyperParameterTuningJobName", "Status", "Strategy", "Seed",
//   "End"?, "EndNote"?, "FailureReason"?, "Notes": [text], "MaxNumberOfTrainingJobs",
//   "BestTrainingJobName"?, "Definitions":
//   [{"DefinitionName"?, "MetricName", "Type",
//     "Importances": [{"Name", "Share"}],
//     "Failures": [{"Failure", "Trials": [number]}], "WithoutMetric",
//     "Trials": [{"Number", "TrainingJobName", "TrainingJobStatus", "ObjectiveStatus",
//       "TunedHyperParameters", "Reason", "Objective"?, "Expected"?, "ExpectedLow"?,
//       "ExpectedHigh"?, "Failure"?, "Stop"?, "Seconds"}]}]}
//
// Threading: thread-safe. May take seconds with thousands of trials.
#pragma once

#include "api/tuning_jobs.h"

namespace sabia::api {

wire::AwsResult<json::object> ExplainTuningJob(TuningJobs& jobs, const json::object& request);

}  // namespace sabia::api
