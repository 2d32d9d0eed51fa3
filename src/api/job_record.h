// The record of a training job for `sabia jobs JOB`, behind /-/jobs/training: an extension, not
// part of the AWS API.
//
// {"TrainingJobName"} → the document of model::TrainingJob, and while instances of a job with
// checkpoints run "checkpoints": [{"host", "files", "pending_bytes", "synced_at"?, "written_at"?}]:
// per instance what is in S3, what is not there yet, when something last went there and when the
// newest of it was written (milliseconds since 1970).
//
// Threading: thread-safe.
#pragma once

#include "api/job_data.h"

namespace sabia::api {

wire::AwsResult<json::object> DescribeJobRecord(store::Resources& resources,
                                                const ReportOf& report_of,
                                                const json::object& request);

}  // namespace sabia::api
