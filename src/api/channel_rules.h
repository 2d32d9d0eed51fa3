// The rules of CreateTrainingJob's input channels: which modes, sources and formats go together.
//
// Pure; any thread. Errors: ValidationException naming the channel, the value and what is allowed.
// Source: Channel and S3DataSource of the SageMaker API reference; where that is silent,
// docs/semantics/pipe.md says what was chosen.
#pragma once

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::api {

// REQUIRES: completed by model::CompleteTrainingRequest.
wire::AwsResult<void> CheckChannels(const json::object& request);

}  // namespace sabia::api
