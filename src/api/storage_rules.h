// Whether the buckets and objects that a training job names are there when it is asked for.
//
// Threading: thread-safe. Blocks on buckets outside. Errors: ValidationException naming the member
// and the URI; what a bucket outside answers, passed on.
#pragma once

#include "base/json.h"
#include "objects/bucket_source.h"
#include "wire/action.h"

namespace sabia::api {

// request: CreateTrainingJob, completed by model::CompleteTrainingRequest.
wire::AwsResult<void> CheckStorage(objects::Buckets& buckets, const wire::CallContext& context,
                                   const json::object& request);

}  // namespace sabia::api
