// The metric definitions that a built-in image implies: a job need not (and on AWS may not) give
// its own.
//
// Pure; any thread.
// tuning. The regular expressions are AWS's: they expect a TAB of the log line as the five
// characters "#011", which is how the log pipeline of AWS shows it. Whoever matches them replaces
// TAB by "#011" first, or matches both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/instance.h"

namespace sabia::model {

// The built-in XGBoost: "train:<m>" and "validation:<m>" for each metric that the image knows,
// sorted by name.
std::vector<MetricDefinition> XgboostMetricDefinitions();

// The same regular expression with each "#011" replaced by "\t"; others come back unchanged.
std::string ForRealTabs(std::string_view regex);

}  // namespace sabia::model
