// The metrics that the image computes itself, by the definitions of scikit-learn.
//
// Classes come from raw margins: above 0 is class 1, or the largest of several. Regression metrics
// take predictions. Rows count alike: weights play no part, as in the image. Pure; any thread.
#pragma once

#include <span>
#include <string_view>

#include "algorithms/booster.h"
#include "base/result.h"

namespace sabia::algorithms {

bool IsContainerMetric(std::string_view metric);
// True when the metric wants predictions, false when it wants margins.
bool IsRegressionMetric(std::string_view metric);

// REQUIRES: IsContainerMetric(metric). kInvalidArgument when labels and metric do not fit.
Result<double> ContainerMetric(std::string_view metric, std::span<const float> labels,
                               const Predictions& predictions);

// The class of each row.
std::vector<int> ClassesOf(const Predictions& margins);

}  // namespace sabia::algorithms
