#include "api/metric_statistics.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace sabia::api {

Result<Statistic> Statistic::Parse(std::string_view name) {
  Statistic statistic;
  statistic.name_ = name;
  if (name == "SampleCount") {
    statistic.kind_ = Kind::kSampleCount;
  } else if (name == "Average") {
    statistic.kind_ = Kind::kAverage;
  } else if (name == "Sum") {
    statistic.kind_ = Kind::kSum;
  } else if (name == "Minimum") {
    statistic.kind_ = Kind::kMinimum;
  } else if (name == "Maximum") {
    statistic.kind_ = Kind::kMaximum;
  } else {
    statistic.kind_ = Kind::kPercentile;
    const std::string_view digits = name.substr(std::min<std::size_t>(1, name.size()));
    const auto [end, ec] =
        std::from_chars(digits.data(), digits.data() + digits.size(), statistic.percent_);
    if (!name.starts_with('p') || ec != std::errc() || end != digits.data() + digits.size() ||
        !(statistic.percent_ >= 0 && statistic.percent_ <= 100)) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "statistic '{}' is not supported: use SampleCount, Average, Sum, Minimum, Maximum or a "
          "percentile from p0 to p100",
          name);
    }
  }
  return statistic;
}

void PeriodStatistics::Add(const store::Point& point) {
  minimum_ = count_ == 0 ? point.minimum : std::min(minimum_, point.minimum);
  maximum_ = count_ == 0 ? point.maximum : std::max(maximum_, point.maximum);
  count_ += point.count;
  sum_ += point.value;
  if (point.minimum == point.maximum) {
    values_.emplace_back(point.minimum, point.count);
  } else {
    values_known_ = false;
  }
}

std::optional<double> PeriodStatistics::Percentile(double percent) const {
  if (!values_known_ || values_.empty()) return std::nullopt;
  std::vector<std::pair<double, double>> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const double rank = count_ * percent / 100;  // nearest rank: the smallest value that covers it
  double covered = 0;
  for (const auto& [value, count] : sorted) {
    covered += count;
    if (covered >= rank) return value;
  }
  return sorted.back().first;
}

std::optional<double> PeriodStatistics::Value(const Statistic& statistic) const {
  switch (statistic.kind_) {
    case Statistic::Kind::kSampleCount:
      return count_;
    case Statistic::Kind::kAverage:
      return count_ == 0 ? 0 : sum_ / count_;
    case Statistic::Kind::kSum:
      return sum_;
    case Statistic::Kind::kMinimum:
      return minimum_;
    case Statistic::Kind::kMaximum:
      return maximum_;
    case Statistic::Kind::kPercentile:
      return Percentile(statistic.percent_);
  }
  return std::nullopt;
}

WallTime FloorToPeriod(WallTime time, Seconds period) {
  const Millis length = period;
  Millis rest = time.time_since_epoch() % length;
  if (rest < Millis(0)) rest += length;
  return time - rest;
}

std::vector<PeriodStatistics> GroupByPeriod(const std::vector<store::Point>& points, Seconds period,
                                            std::string_view unit) {
  std::map<std::pair<WallTime, std::string>, PeriodStatistics> groups;
  for (const store::Point& point : points) {
    const std::string own = point.unit.empty() ? "None" : point.unit;
    if (!unit.empty() && own != unit) continue;
    PeriodStatistics& group = groups[{FloorToPeriod(point.time, period), own}];
    group.Add(point);
  }
  std::vector<PeriodStatistics> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) {
    group.start = key.first;
    group.unit = key.second;
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace sabia::api
