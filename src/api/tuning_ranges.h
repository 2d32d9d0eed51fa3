// Whether the ranges of a tuning job can be searched: bounds, scales, names, and how many
// combinations there are.
//
// Pure; any thread. Errors: ValidationException, ResourceLimitExceeded naming the parameter, the
// value and what is allowed. Not here: the search (tuner/).
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "model/tuning_request.h"
#include "wire/aws_error.h"

namespace sabia::api {

// REQUIRES: every definition has an objective and ranges.
wire::AwsResult<void> CheckTuningRanges(const json::object& config,
                                        const model::TuningDefinition& definition);
// The number of combinations of all definitions, tuner::kUncountable when there are too many, and
// whether it goes with MaxNumberOfTrainingJobs. REQUIRES: each passed CheckTuningRanges.
wire::AwsResult<std::uint64_t> CheckCombinations(
    const json::object& config, const std::vector<model::TuningDefinition>& definitions);

}  // namespace sabia::api
