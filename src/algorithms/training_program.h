// `sabia algorithm xgboost train`: from the files under root to model/xgboost-model.
#pragma once

#include "algorithms/job_log.h"
#include "algorithms/xgboost.h"
#include "base/result.h"

namespace sabia::algorithms {

enum class ProgramEnd {
  kDone,
  kEndedWithModel,  // by SIGTERM; save_model_on_termination left a model
  kEnded,           // by SIGTERM
};

// kInvalidArgument is the user's to mend, kUnavailable the platform's, anything else the
// algorithm's.
Result<ProgramEnd> RunTraining(const XgboostContext& context, JobLog& log);

// "framework error: \n<class>: <text>", as it goes to output/failure.
std::string FailureText(const Error& error);

}  // namespace sabia::algorithms
