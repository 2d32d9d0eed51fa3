#include "store/series.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/testing/state.h"

namespace sabia::store {
namespace {

WallTime At(std::int64_t ms) { return FromUnixMillis(ms); }

Series::Sample Sample(std::string metric, std::string job, std::int64_t ms, double value) {
  return {{"/aws/sagemaker/TrainingJobs", std::move(metric), {{"Host", std::move(job)}}},
          {At(ms), value, 1, value, value, ""}};
}

TEST(Series, PointsComeBackInOrderOfTimeWithinTheRange) {
  testing::TemporaryState state;
  const SeriesKey key = Sample("rmse", "a", 0, 0).key;
  ASSERT_TRUE(state.series().Put({Sample("rmse", "a", 300, 3), Sample("rmse", "a", 100, 1),
                                  Sample("rmse", "a", 200, 2), Sample("rmse", "a", 200, 2.5),
                                  Sample("rmse", "b", 150, 9), Sample("mae", "a", 150, 9)}));
  const auto points = state.series().Query(key, At(100), At(300)).value();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].value, 1);
  EXPECT_EQ(points[1].value, 2);
  EXPECT_EQ(points[2].value, 2.5);
  EXPECT_EQ(points[2].time, At(200));
  EXPECT_TRUE(state.series().Query({"x", "y", {}}, At(0), At(1000)).value().empty());
}

TEST(Series, StatisticsAndUnitsAreKept) {
  testing::TemporaryState state;
  const SeriesKey key{"n", "m", {}};
  ASSERT_TRUE(state.series().Put({{key, {At(1), 10, 4, 1, 5, "Seconds"}}}));
  const Point p = state.series().Query(key, At(0), At(2)).value().at(0);
  EXPECT_EQ(p.count, 4);
  EXPECT_EQ(p.minimum, 1);
  EXPECT_EQ(p.maximum, 5);
  EXPECT_EQ(p.unit, "Seconds");
}

TEST(Series, FindFiltersSortsAndPages) {
  testing::TemporaryState state;
  const SeriesKey plain{"a", "m", {}};
  const SeriesKey host{"a", "m", {{"Host", "x"}}};
  const SeriesKey longer{"a", "m", {{"Host", "x"}, {"Job", "y"}}};
  const SeriesKey prefix{"a", "m", {{"Host2", "x"}}};
  const SeriesKey other{"b", "k", {{"Host", "z"}}};
  for (const SeriesKey& key : {other, prefix, longer, host, plain}) {
    ASSERT_TRUE(state.series().Put({{key, {At(1), 1}}}));
  }
  using Keys = std::vector<SeriesKey>;
  Series& series = state.series();
  EXPECT_EQ(series.Find({}, nullptr, 10).value(), (Keys{plain, host, longer, prefix, other}));
  EXPECT_EQ(series.Find({}, &host, 2).value(), (Keys{longer, prefix}));
  EXPECT_EQ(series.Find({.metric_namespace = "b"}, nullptr, 10).value(), Keys{other});
  EXPECT_EQ(series.Find({.metric = "k"}, nullptr, 10).value(), Keys{other});
  EXPECT_EQ(series.Find({.dimensions = {{"Host", "x"}}}, nullptr, 10).value(),
            (Keys{host, longer}));
  EXPECT_EQ(series.Find({.dimensions = {{"Host", "x"}}}, &host, 10).value(), Keys{longer});
  EXPECT_EQ(series.Find({.dimensions = {{"Host", ""}}}, nullptr, 10).value(),
            (Keys{host, longer, other}));
  EXPECT_EQ(series.Find({.dimensions = {{"Host", "x"}, {"Job", "y"}}}, nullptr, 10).value(),
            Keys{longer});
}

TEST(Series, NulIsRefused) {
  testing::TemporaryState state;
  const SeriesKey key{"n", std::string("a\0b", 3), {}};
  EXPECT_EQ(state.series().Put({{key, {At(1), 1}}}).error().code, ErrorCode::kInvalidArgument);
}

// Goal: the same lines offered many times, by many threads, are stored once.
TEST(Series, LinesAreIngestedExactlyOnce) {
  testing::TemporaryState state;
  const SeriesKey key = Sample("rmse", "a", 0, 0).key;
  for (std::uint64_t offset = 0; offset < 50; offset += 10) {
    EXPECT_EQ(state.series().Offset("i-1").value(), offset);
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        const Status done =
            state.series().Ingest("i-1", offset, offset + 10,
                                  {Sample("rmse", "a", static_cast<std::int64_t>(offset), 1)});
        if (done) {
          ++won;
        } else {
          EXPECT_EQ(done.error().code, ErrorCode::kConflict);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won, 1);
    state.Reopen();
  }
  EXPECT_EQ(state.series().Query(key, At(0), At(100)).value().size(), 5u);
  EXPECT_EQ(state.series().Offset("i-2").value(), 0u);
}

}  // namespace
}  // namespace sabia::store
