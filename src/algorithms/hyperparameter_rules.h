// Rules across hyperparameters: what may stand beside what. Pure; any thread.
#pragma once

#include "algorithms/hyperparameters.h"

namespace sabia::algorithms {

// kInvalidArgument with the image's text for the first rule that is broken.
Status CheckHyperparameterRules(const Hyperparameters& values);

// One item of eval_metric beyond the plain names: "error@0.7", "ndcg@5". True when it is well
// formed, false when it is no such item at all (the caller then looks it up), an error when its
// threshold is not.
Result<bool> CheckMetricWithThreshold(const std::string& metric);

}  // namespace sabia::algorithms
