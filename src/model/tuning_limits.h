// Quotas of hyperparameter tuning. Sources as in limits.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sabia::model {

inline constexpr std::int64_t kTrialsPerTuningJobMax = 750;  // guide: training jobs per tuning job
inline constexpr std::int64_t kParallelTrialsMax = 100;      // guide: what 10 can be raised to
inline constexpr std::size_t kTunedParametersMax = 30;       // model: ParameterRanges
inline constexpr std::size_t kHyperParametersMax = 100;  // model: HyperParameters of a training job
inline constexpr std::size_t kEnvironmentMax = 48;       // model: over all definitions
inline constexpr std::int64_t kWarmStartChangesMax = 10;  // guide: warm start restrictions

}  // namespace sabia::model
