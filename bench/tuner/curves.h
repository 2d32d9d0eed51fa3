// Learning-curve tables: how many epochs a strategy needs, with several trials at once.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sabia::bench {

struct CurveOptions {
  std::string strategy = "hyperband";  // random, asha, hyperband
  std::uint64_t seed = 0;
  std::int64_t epochs = 5200;  // spent by all trials together
  std::size_t parallel = 8;
};

// Runs a strategy on a table (as problem.h has it, with columns loss@EPOCH instead of the
// objective) and gives a JSON object: `epochs` spent whenever the best loss seen improved, and
// `best`, those losses.
Result<std::string> RunCurves(const std::string& path, const CurveOptions& options);

}  // namespace sabia::bench
