#include "api/metric_statistics.h"

#include <gtest/gtest.h>

namespace sabia::api {
namespace {

const WallTime kMinute = FromUnixMillis(1'700'000'040'000);  // a multiple of 60 seconds

store::Point Single(Millis after, double value, std::string unit = "None") {
  return {kMinute + after, value, 1, value, value, std::move(unit)};
}

double ValueOf(const PeriodStatistics& period, std::string_view name) {
  return period.Value(*Statistic::Parse(name)).value_or(-1);
}

TEST(MetricStatistics, StatisticsOfOnePeriod) {
  const auto periods =
      GroupByPeriod({Single(Millis(0), 1), Single(Millis(30'000), 2), Single(Millis(59'999), 6)},
                    Seconds(60), "");
  ASSERT_EQ(periods.size(), 1u);
  EXPECT_EQ(periods[0].start, kMinute);
  EXPECT_EQ(ValueOf(periods[0], "SampleCount"), 3);
  EXPECT_EQ(ValueOf(periods[0], "Sum"), 9);
  EXPECT_EQ(ValueOf(periods[0], "Average"), 3);
  EXPECT_EQ(ValueOf(periods[0], "Minimum"), 1);
  EXPECT_EQ(ValueOf(periods[0], "Maximum"), 6);
  EXPECT_EQ(ValueOf(periods[0], "p50"), 2);
  EXPECT_EQ(ValueOf(periods[0], "p99.9"), 6);
  EXPECT_EQ(ValueOf(periods[0], "p0"), 1);
}

TEST(MetricStatistics, EmptyPeriodsDoNotAppear) {
  const auto periods =
      GroupByPeriod({Single(Millis(0), 1), Single(Millis(180'000), 2)}, Seconds(60), "");
  ASSERT_EQ(periods.size(), 2u);
  EXPECT_EQ(periods[1].start - periods[0].start, Seconds(180));
}

TEST(MetricStatistics, CountedValuesWeighAsOften) {
  const store::Point often{kMinute, 10, 5, 2, 2, "None"};  // five times the value 2
  const auto periods = GroupByPeriod({often, Single(Millis(1), 100)}, Seconds(60), "");
  EXPECT_EQ(ValueOf(periods[0], "SampleCount"), 6);
  EXPECT_EQ(ValueOf(periods[0], "Sum"), 110);
  EXPECT_EQ(ValueOf(periods[0], "p80"), 2);
  EXPECT_EQ(ValueOf(periods[0], "p90"), 100);
}

TEST(MetricStatistics, PercentilesOfStatisticSetsAreUnknown) {
  const store::Point set{kMinute, 10, 5, 1, 4, "None"};
  const auto periods = GroupByPeriod({set}, Seconds(60), "");
  EXPECT_FALSE(periods[0].Value(*Statistic::Parse("p50")).has_value());
  EXPECT_EQ(ValueOf(periods[0], "Average"), 2);
}

TEST(MetricStatistics, UnitsAreKeptApart) {
  const std::vector<store::Point> points{Single(Millis(0), 1, "Seconds"), Single(Millis(1), 2, "")};
  EXPECT_EQ(GroupByPeriod(points, Seconds(60), "").size(), 2u);
  const auto seconds = GroupByPeriod(points, Seconds(60), "Seconds");
  ASSERT_EQ(seconds.size(), 1u);
  EXPECT_EQ(ValueOf(seconds[0], "Sum"), 1);
}

TEST(MetricStatistics, FloorGoesDownAlsoBefore1970) {
  EXPECT_EQ(FloorToPeriod(kMinute + Millis(59'999), Seconds(60)), kMinute);
  EXPECT_EQ(FloorToPeriod(FromUnixMillis(-1), Seconds(60)), FromUnixMillis(-60'000));
}

TEST(MetricStatistics, UnknownStatisticsAreRefused) {
  for (const char* bad : {"", "p", "p101", "p-1", "p5x", "tm90", "Median", "pnan"}) {
    EXPECT_FALSE(Statistic::Parse(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace sabia::api
