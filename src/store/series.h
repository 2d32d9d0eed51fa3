// Metric points over time: what CloudWatch's PutMetricData stores and GetMetricStatistics reads.
//
// A series is a namespace, a metric name and a sorted set of dimensions. Points are kept at
// millisecond resolution. Threading: thread-safe. Durable when Put returns. Errors: those of
// Database.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/database.h"

namespace sabia::store {

struct SeriesKey {
  std::string metric_namespace;
  std::string metric;
  std::map<std::string, std::string> dimensions;
  auto operator<=>(const SeriesKey&) const = default;
};

struct Point {
  WallTime time;
  double value = 0;  // the sum, when count > 1
  double count = 1;  // StatisticSet and Values/Counts of PutMetricData
  double minimum = 0;
  double maximum = 0;
  std::string unit;  // "" means None
};

class Series {
 public:
  explicit Series(Database& database) : database_(database) {}
  static std::vector<std::string> Migrations();

  struct Sample {
    SeriesKey key;
    Point point;
  };
  Status Put(const std::vector<Sample>& samples);

  // Takes the metric lines of one instance exactly once: samples are stored and `source` moves to
  // new_offset in one transaction, provided it stood at old_offset (kConflict otherwise). Offset()
  // is where to go on after a restart.
  Status Ingest(const std::string& source, std::uint64_t old_offset, std::uint64_t new_offset,
                const std::vector<Sample>& samples);
  Result<std::uint64_t> Offset(const std::string& source);

  // Points in [start, end), in order of time.
  Result<std::vector<Point>> Query(const SeriesKey& key, WallTime start, WallTime end);

  struct Filter {
    std::string metric_namespace;  // "" matches all
    std::string metric;
    std::map<std::string, std::string> dimensions;  // an empty value matches any value of that name
  };
  // Sorted by key; behind `after` when given; limit + 1 would tell whether more follow.
  Result<std::vector<SeriesKey>> Find(const Filter& filter, const SeriesKey* after,
                                      std::size_t limit);

 private:
  Database& database_;
};

}  // namespace sabia::store
