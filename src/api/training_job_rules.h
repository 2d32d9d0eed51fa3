// The rules of CreateTrainingJob that the schema cannot state: what must hold between members.
//
// Everything here is a function of the request alone; what needs buckets or other jobs is in
// training_jobs.cc. Pure; any thread. Errors: ValidationException with AWS's sentence where it is
// known, ResourceLimitExceeded. Not here: which members are refused outright
// (training_job_fields.h); defaults (model/training_request.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/instance_catalog.h"
#include "wire/aws_error.h"

namespace sabia::api {

// REQUIRES: completed by model::CompleteTrainingRequest.
wire::AwsResult<void> CheckRequest(const json::object& request);

// ValidationException for an instance type whose hardware nobody knows: it cannot be laid out here.
// REQUIRES: passed CheckRequest.
wire::AwsResult<void> CheckInstanceTypes(const model::InstanceCatalog& catalog,
                                         const json::object& request);

// What the user should know and AWS does not refuse, such as spot without checkpoints.
std::vector<std::string> NotesOnRequest(const json::object& request);

// Tags of a request: keys are unique and not reserved.
wire::AwsResult<void> CheckTags(const json::object& request);

// The sentence that names a missing member, as the schema's validator words it.
tl::unexpected<wire::AwsError> RefuseNull(std::string_view path);

// One request above a limit of this engine.
struct Quota {
  std::string_view name;  // "Size of EBS volume for a training job instance"
  std::string_view unit;  // "GBs"
  std::int64_t limit = 0;
  std::int64_t wanted = 0;
};
tl::unexpected<wire::AwsError> RefuseQuota(const Quota& quota);

}  // namespace sabia::api
