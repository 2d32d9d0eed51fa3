// Whether a tuning job can start from earlier ones: the restrictions that AWS documents for warm
// start.
//
// Pure; any thread. Errors: ValidationException naming the parent and what differs. Source: "Warm
// start tuning restrictions" of the SageMaker guide.
#pragma once

#include <vector>

#include "base/json.h"
#include "model/tuning_job.h"
#include "wire/aws_error.h"

namespace sabia::api {

// request: completed, with WarmStartConfig and one definition. parents: in the order of the
// request.
wire::AwsResult<void> CheckWarmStart(const json::object& request,
                                     const std::vector<model::TuningJob>& parents);

}  // namespace sabia::api
