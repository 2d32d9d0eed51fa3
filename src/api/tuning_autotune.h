// Autotune: what a tuning job gets for what its request leaves out.
//
// Ours, for AWS does not say how it chooses (docs/semantics/tuning-job.md):
//   - AutoParameters become ranges around their hints; hints that are no numbers become constants;
//   - a built-in algorithm without any range gets the ranges that AWS recommends for it;
//   - MaxNumberOfTrainingJobs, early stopping, ConvergenceDetected and RetryStrategy get defaults.
// Pure; any thread. Errors: ValidationException when nothing is left to tune.
#pragma once

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::api {

// Does nothing without Autotune. REQUIRES: passed CheckTuningShape.
wire::AwsResult<void> ApplyAutotune(json::object& request);

}  // namespace sabia::api
