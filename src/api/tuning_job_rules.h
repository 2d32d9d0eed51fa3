// The rules of CreateHyperParameterTuningJob that the schema cannot state: defaults, and what must
// hold between members.
//
// Everything here is a function of the request alone; what needs buckets or other jobs is in
// tuning_jobs.cc and warm_start_rules.h. A definition must also pass every rule of
// CreateTrainingJob (training_job_rules.h), for its trials are training jobs. Pure; any thread.
// Errors: ValidationException with AWS's sentence where it is known, else one that names the
// member, the value and what is allowed; ResourceLimitExceeded. Of several definitions, the message
// says which.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/instance_catalog.h"
#include "model/tuning_request.h"
#include "wire/aws_error.h"

namespace sabia::api {

// In this order: AcceptTuningRequest does all of them.
//
// Members that are refused by name (tuning_job_fields.h), and where definitions, objectives and
// ranges may stand.
wire::AwsResult<void> CheckTuningShape(const json::object& request);
// The values that the service fills in: of each definition what CompleteTrainingRequest adds to a
// training job, and the objective's name among the static hyperparameters. Idempotent.
void CompleteTuningRequest(json::object& request);
wire::AwsResult<void> CheckTuningRequest(const model::InstanceCatalog& instances,
                                         const json::object& request);

// Shape, Autotune, defaults, rules; then MaxNumberOfTrainingJobs has a value in any case.
wire::AwsResult<void> AcceptTuningRequest(const model::InstanceCatalog& instances,
                                          json::object& request);

// What the user should know and AWS does not refuse.
std::vector<std::string> NotesOnTuningRequest(const model::InstanceCatalog& instances,
                                              const json::object& request);

// The result of a check of one of the definitions, with its path in front of the message when there
// are several.
wire::AwsResult<void> AboutDefinition(const model::TuningDefinition& definition,
                                      wire::AwsResult<void> checked);

}  // namespace sabia::api
