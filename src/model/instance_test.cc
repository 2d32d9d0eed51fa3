#include "model/instance.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

TEST(InstanceSpec, SurvivesTheRoundTripThroughJson) {
  InstanceSpec spec;
  spec.id = "0123456789ab-1-1";
  spec.hosts = {"algo-1", "algo-2"};
  spec.image = ImageKind::kXgboost;
  spec.hyperparameters = {{"eta", "0.1"}};
  spec.channels.push_back(ChannelSpec{.name = "train", .mode = InputMode::kFastFile});
  spec.channels.push_back(ChannelSpec{.name = "piped",
                                      .mode = InputMode::kPipe,
                                      .attributes = {"image-ref", "label"},
                                      .shuffle_seed = -3,
                                      .share_host = 1,
                                      .share_hosts = 2});
  spec.groups.push_back(GroupSpec{"a", "ml.m5.large", {"algo-1"}});
  spec.metrics.push_back(MetricDefinition{"loss", "loss=(\\S+)"});
  spec.run_limit = Millis(5000);
  const auto read = InstanceSpec::FromJson(spec.ToJson());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), spec.ToJson());
  EXPECT_EQ(read->channels[0].mode, InputMode::kFastFile);
  EXPECT_FALSE(read->channels[0].shuffle_seed);
  EXPECT_EQ(read->channels[1].shuffle_seed, -3);
  EXPECT_EQ(read->channels[1].attributes.size(), 2u);
}

TEST(Report, SurvivesTheRoundTripThroughJson) {
  Report report;
  report.phase = AgentPhase::kDone;
  report.began = {{AgentPhase::kPreparing, FromUnixMillis(1)},
                  {AgentPhase::kDone, FromUnixMillis(9)}};
  report.exit_code = 3;
  report.stopped_for = StopReason::kInterrupted;
  report.metrics.push_back(FinalMetric{"loss", 0.5, FromUnixMillis(5)});
  report.checkpoint_synced_at = FromUnixMillis(7);
  report.machine_ends_at = FromUnixMillis(9);
  report.checkpoint_written_at = FromUnixMillis(6);
  report.channels.push_back(
      {.name = "t", .mode = InputMode::kPipe, .way = "pipe", .bytes = 5, .starved = Millis(2)});
  const auto read = Report::FromJson(report.ToJson());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), report.ToJson());
  EXPECT_FALSE(read->signal);
}

TEST(ChannelReport, SumsUpByNameModeAndWay) {
  std::vector<ChannelReport> sum;
  const ChannelReport view{.name = "f", .way = "view", .objects = 2, .bytes = 10};
  const ChannelReport piped{.name = "p",
                            .mode = InputMode::kPipe,
                            .way = "pipe",
                            .bytes = 7,
                            .epochs = 1,
                            .starved = Millis(3)};
  for (const ChannelReport& one : {view, piped, piped}) AddChannel(sum, one);
  AddChannel(sum, {.name = "f", .way = "copy", .objects = 1});
  ASSERT_EQ(sum.size(), 3u);
  EXPECT_EQ(sum[0].hosts, 1);
  EXPECT_EQ(sum[1].hosts, 2);
  EXPECT_EQ(sum[1].bytes, 14);
  EXPECT_EQ(sum[1].epochs, 2);
  EXPECT_EQ(sum[1].starved, Millis(6));
  EXPECT_EQ(sum[2].way, "copy");
}

TEST(Orders, RefusesAReasonThatNobodyKnows) {
  EXPECT_TRUE(Orders::FromJson(Orders{.stop = StopReason::kMaxWait}.ToJson()));
  EXPECT_EQ(Orders::FromJson(json::object{{"stop", "whim"}}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Orders::FromJson(json::object{{"upload", 1}}).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sabia::model
