// The metric definitions that a built-in image implies: a job need not (and on AWS may not) give
// its own.
//
// Pure; any thread. The regular expressions are AWS's: they expect a TAB of the log line as the
// four characters "#011", which is how the log pipeline of AWS shows it, and "(\S+)" for the value,
// which may run over a "#011" that follows: whoever matches cuts the value there.
#pragma once

#include <vector>

#include "model/instance.h"

namespace sabia::model {

// The built-in XGBoost: "train:<m>" and "validation:<m>" for each metric that the image knows,
// sorted by name.
std::vector<MetricDefinition> XgboostMetricDefinitions();

}  // namespace sabia::model
