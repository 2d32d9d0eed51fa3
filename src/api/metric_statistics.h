// Points to statistics per period: what GetMetricStatistics and GetMetricData answer.
//
// Source: "Statistics definitions" and "Periods" of the CloudWatch user guide. Periods begin at
// multiples of their length since 1970; a period without points does not appear. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/series.h"

namespace sabia::api {

// SampleCount, Average, Sum, Minimum, Maximum, or a percentile such as p90 and p99.9.
class Statistic {
 public:
  // kInvalidArgument names what is allowed.
  static Result<Statistic> Parse(std::string_view name);
  const std::string& name() const { return name_; }
  bool is_percentile() const { return kind_ == Kind::kPercentile; }

 private:
  friend class PeriodStatistics;
  enum class Kind { kSampleCount, kAverage, kSum, kMinimum, kMaximum, kPercentile };
  Kind kind_ = Kind::kAverage;
  double percent_ = 0;
  std::string name_;
};

// All points of one period and unit.
class PeriodStatistics {
 public:
  void Add(const store::Point& point);
  // Nothing when it cannot be known: a percentile over statistic sets whose values differ.
  std::optional<double> Value(const Statistic& statistic) const;

  WallTime start;
  std::string unit;

 private:
  std::optional<double> Percentile(double percent) const;

  double count_ = 0;
  double sum_ = 0;
  double minimum_ = 0;
  double maximum_ = 0;
  bool values_known_ = true;
  std::vector<std::pair<double, double>> values_;  // value, count
};

WallTime FloorToPeriod(WallTime time, Seconds period);

// In order of time, then unit. unit: only points of that unit; "" takes all, one entry per unit.
std::vector<PeriodStatistics> GroupByPeriod(const std::vector<store::Point>& points, Seconds period,
                                            std::string_view unit);

}  // namespace sabia::api
