#include "control/metrics_ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/adapters.h"
#include "control/testing/fake_ports.h"
#include "env/posix/posix_files.h"
#include "env/testing/manual_clock.h"
#include "fleet/posix/disk_instance_files.h"
#include "fleet/testing/fake_fleet.h"
#include "store/testing/state.h"

namespace sabia::control {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr char kId[] = "0123456789ab-1-1";

// The real store and the real directory.
class MetricsIngest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(files_.Prepare(kId, {})); }

  Status Ingest(MetricCursor& cursor) {
    const Ports ports{records_, files_, fleet_, channels_, metrics_, sessions_, clock_};
    return IngestMetrics(ports, cursor, files_.Observe(kId, true)->metrics_bytes);
  }
  void Write(const std::string& content) {
    ASSERT_TRUE(disk_.WriteAtomically(files_.Directory(kId) / "metrics.log", content, {}));
  }
  std::vector<double> Values(const std::string& metric) {
    std::vector<double> out;
    const store::SeriesKey key{"/aws/sagemaker/TrainingJobs", metric, {{"TrainingJobName", "job"}}};
    const auto points = state_.series().Query(key, WallTime{}, FromUnixMillis(1'000'000));
    for (const store::Point& point : *points) {
      out.push_back(point.value);
    }
    return out;
  }

  store::testing::TemporaryState state_;
  env::PosixFiles disk_;
  env::ManualClock clock_;
  fleet::DiskInstanceFiles files_{disk_, state_.paths()};
  fleet::testing::FakeFleet fleet_{clock_};
  testing::FakeRecords records_;
  testing::FakeChannels channels_;
  testing::FakeSessions sessions_;
  StoreMetrics metrics_{state_.series()};
  MetricCursor cursor_{kId, "job", std::nullopt};
};

TEST_F(MetricsIngest, TakesEachLineOnceHoweverOftenAsked) {
  Write(
      "{\"name\":\"loss\",\"value\":1.5,\"time\":1000}\n{\"name\":\"loss\",\"value\":1,\"time\":"
      "2000}\n");
  ASSERT_TRUE(Ingest(cursor_));
  ASSERT_TRUE(Ingest(cursor_));
  MetricCursor after_restart{kId, "job", std::nullopt};
  ASSERT_TRUE(Ingest(after_restart));
  EXPECT_THAT(Values("loss"), ElementsAre(1.5, 1.0));
}

TEST_F(MetricsIngest, KeepsTheDimensionsAndUnitOfAnInstancesMetric) {
  Write(R"({"name":"InputBytes","value":5,"time":1000,"unit":"Bytes","dimensions":)"
        R"({"Host":"job/algo-1","Channel":"train"}})"
        "\n");
  ASSERT_TRUE(Ingest(cursor_));
  EXPECT_THAT(Values("InputBytes"), SizeIs(0));
  const store::SeriesKey key{
      "/aws/sagemaker/TrainingJobs", "InputBytes", {{"Channel", "train"}, {"Host", "job/algo-1"}}};
  const auto points = state_.series().Query(key, WallTime{}, FromUnixMillis(1'000'000));
  ASSERT_THAT(*points, SizeIs(1));
  EXPECT_EQ((*points)[0].value, 5);
  EXPECT_EQ((*points)[0].unit, "Bytes");
}

TEST_F(MetricsIngest, WaitsForTheEndOfTheLastLine) {
  const std::string first = "{\"name\":\"loss\",\"value\":1,\"time\":1000}\n";
  const std::string second = "{\"name\":\"loss\",\"value\":2,\"time\":2000}\n";
  Write(first + second.substr(0, 10));
  ASSERT_TRUE(Ingest(cursor_));
  EXPECT_THAT(Values("loss"), SizeIs(1));
  Write(first + second);
  ASSERT_TRUE(Ingest(cursor_));
  EXPECT_THAT(Values("loss"), ElementsAre(1, 2));
}

TEST_F(MetricsIngest, SkipsWhatIsNoMetric) {
  Write(
      "garbage\n{}\n{\"name\":\"\",\"value\":1,\"time\":1}\n{\"name\":\"loss\",\"value\":\"x\","
      "\"time\":1}\n"
      "{\"name\":\"loss\",\"value\":1}\n\n{\"name\":\"loss\",\"value\":3,\"time\":3000}\n");
  ASSERT_TRUE(Ingest(cursor_));
  EXPECT_THAT(Values("loss"), ElementsAre(3));
}

TEST_F(MetricsIngest, LeavesTwoReadersOneWinner) {
  Write("{\"name\":\"loss\",\"value\":1,\"time\":1000}\n");
  MetricCursor slow{kId, "job", 0};
  ASSERT_TRUE(Ingest(cursor_));
  const Status late = Ingest(slow);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(Ingest(slow)) << "it has read where the other stands";
  EXPECT_THAT(Values("loss"), SizeIs(1));
}

TEST_F(MetricsIngest, GetsThroughManyLines) {
  std::string content;
  constexpr int kLines = 40'000;  // more than one chunk
  for (int i = 0; i < kLines; ++i)
    content += fmt::format("{{\"name\":\"m\",\"value\":{},\"time\":{}}}\n", i, i);
  Write(content);
  ASSERT_TRUE(Ingest(cursor_));
  EXPECT_THAT(Values("m"), SizeIs(kLines));
}

}  // namespace
}  // namespace sabia::control
