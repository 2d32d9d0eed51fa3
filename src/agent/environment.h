// The environment variables that a program finds, and the argument list that script mode makes of
// hyperparameters.
//
// Platform variables come first, then what the image kind adds (SM_* in script mode), then the
// request's Environment, which wins over all but TRAINING_JOB_NAME and TRAINING_JOB_ARN. A job
// under network isolation gets neither credentials nor an endpoint. The result holds secrets: never
// in argv, never in a log.
//
// Pure; any thread. Source: the SageMaker training toolkit's environment and argument rules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/instance.h"

namespace sabia::agent {

using Variables = std::map<std::string, std::string>;

// PATH starts with /opt/sabia/bin, so that `python` is the interpreter of the spec.
Variables ProgramEnvironment(const model::InstanceSpec& spec);

// Hyperparameters of the user: decoded, without those of the toolkit (sagemaker_*,
// _tuning_objective_metric).
json::object UserHyperparameters(const model::InstanceSpec& spec);
// The toolkit's own: decoded.
json::object ToolkitHyperparameters(const model::InstanceSpec& spec);

// --key value …, single letters as -k, sorted by key.
std::vector<std::string> UserArguments(const model::InstanceSpec& spec);

// "train.py": hyperparameter sagemaker_program or variable SAGEMAKER_PROGRAM; "" when neither is
// given.
std::string UserProgram(const model::InstanceSpec& spec);
// "s3://…/sourcedir.tar.gz", "/opt/ml/input/data/code", or "": sagemaker_submit_directory likewise.
std::string SubmitDirectory(const model::InstanceSpec& spec);

// The SM_* variables.
Variables ToolkitVariables(const model::InstanceSpec& spec);

}  // namespace sabia::agent
