// Recorded markets: how many instances could be had, and at what price, over time.
//
// Formats (docs/semantics/simulate.md has an example of each):
//   availability  {"metadata": {"gap_seconds": 600}, "data": [1, 1, 0, ...]}: the number of
//                 instances that could be had, per tick; or run-length coded,
//                 {"metadata": ..., "samples": 3, "rle": [[1, 2], [0, 1]]}. Traces of launches that
//                 were held until preemption have the same form. Beware of copies with the opposite
//                 sense, 1 for unavailable: kUnavailable reads those.
//   fleet events  lines "milliseconds,add|remove,node", in order of time
//   fleet counts  lines "time,count", in order of time, seconds or days
//   prices        CSV below a header that names the columns, in any order of lines: Timestamp or
//                 timestamp; SpotPrice or spot_usd_per_hour; optionally AvailabilityZone,
//                 availability_zone or Region; InstanceType or instance_type
//
// Pure; any thread. Errors are kInvalidArgument and name the file, the line or the field, the value
// and what is allowed. All sizes are bounded.
#pragma once

#include <string_view>
#include <vector>

#include "base/money.h"
#include "base/result.h"
#include "base/time.h"

namespace sabia::spot {

inline constexpr std::size_t kTraceStepsMax = 5'000'000;
inline constexpr std::int64_t kInstancesMax = 1'000'000;
inline constexpr Millis kTraceLengthMax{std::chrono::hours(24 * 366 * 20)};

struct CapacityStep {
  Millis at{0};  // from the trace's begin
  int instances = 0;
};

// Begins at 0; neighbours differ; each step holds until the next, the last until `length`.
struct CapacityTrace {
  std::vector<CapacityStep> steps;
  Millis length{0};
  Millis gap{0};  // between two samples; 0 for events

  int At(Millis time) const;  // 0 <= time < length
};

struct PriceStep {
  WallTime at;
  Money per_hour;
};

enum class Sense { kAvailable, kUnavailable };  // what the number 1 means
enum class TimeUnit { kSeconds, kDays };

Result<CapacityTrace> ParseAvailability(std::string_view file, std::string_view text,
                                        Sense sense = Sense::kAvailable);
Result<CapacityTrace> ParseFleetEvents(std::string_view file, std::string_view text);
Result<CapacityTrace> ParseFleetCounts(std::string_view file, std::string_view text, TimeUnit unit);

struct PriceFilter {
  std::string_view zone;           // "": the file must not have several
  std::string_view instance_type;  // likewise
};
// In order of time, at least one; of several prices for one moment the file's last counts.
Result<std::vector<PriceStep>> ParsePrices(std::string_view file, std::string_view text,
                                           const PriceFilter& filter);

}  // namespace sabia::spot
