// Takes the metric lines of an instance into the store, each exactly once.
//
// metrics.log holds one JSON object per line, {"name", "value", "time"} with the time in
// milliseconds, of the job; or with "unit" and "dimensions" of its own, of the instance. The offset
// that was read to is stored in one transaction with the points, so a repeated or concurrent call
// adds nothing twice. A line that cannot be read is skipped; an unfinished last line waits for its
// end.
//
// Threading: thread-compatible. Errors: those of the ports.
#pragma once

#include <optional>
#include <string>

#include "control/ports.h"

namespace sabia::control {

inline constexpr std::size_t kMetricChunkBytes = 1u << 20;

struct MetricCursor {
  std::string instance;
  std::string job_name;
  std::optional<std::uint64_t> offset;  // nothing: ask the store
};

// Where the values of a metric that a job's program emits are kept.
store::SeriesKey TrainingMetricKey(const std::string& job_name, const std::string& metric);

// Reads on to `bytes`, the length of the file when it was looked at.
Status IngestMetrics(const Ports& ports, MetricCursor& cursor, std::uint64_t bytes);

}  // namespace sabia::control
