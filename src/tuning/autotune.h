// What Autotune chooses where a request leaves the choice.
//
// AWS says what it may choose, not how. Here, with Autotune Enabled:
//   AutoParameters                a range around the ValueHint: a tenth to ten times of a positive
//                                 number, on a logarithmic scale, a fraction within (0, 1) not
//                                 beyond 1; for the built-in XGBoost the range that AWS recommends
//                                 of the parameter
//   no ranges at all              the built-in XGBoost: the ranges that AWS recommends, but for
//                                 parameters that are static
//   TrainingJobEarlyStoppingType  Auto (Off with Hyperband)
//   completion criteria           ConvergenceDetected
//   RetryStrategy                 3 attempts after internal errors
// Pure; any thread. Errors: kInvalidArgument names the parameter and the hint.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace sabia::tuning {

bool AutotuneEnabled(const json::object& request);

// Writes the choices into the request; AutoParameters become ranges. Idempotent. Nothing without
// Autotune, except that AutoParameters are refused then.
Status ApplyAutotune(json::object& request);

}  // namespace sabia::tuning
