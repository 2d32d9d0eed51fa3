// ParameterRanges of the SageMaker API, read.
//
// Pure, thread-safe. The document passed the service's schema; AutoParameters are no ranges and are
// passed over. Errors: those of Space::Create come later; reading has none.
#pragma once

#include <vector>

#include "base/json.h"
#include "tuner/space.h"

namespace sabia::tuner {

// Integer, continuous, then categorical ranges, each in the order of the request.
std::vector<ParameterRange> ReadRanges(const json::object& parameter_ranges);

}  // namespace sabia::tuner
