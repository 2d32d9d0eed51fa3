#include "agent/data_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

using testing::HasSubstr;

model::ChannelReport Starved(int seconds, std::int64_t epochs = 1) {
  model::ChannelReport out;
  out.name = "train";
  out.starved = Seconds(seconds);
  out.epochs = epochs;
  return out;
}

TEST(DataAccount, MetricLinesAreDifferences) {
  model::ChannelReport before;
  before.name = "train";
  before.bytes = 1000;
  before.objects = 2;
  before.starved = Millis(500);
  model::ChannelReport now = before;
  now.bytes = 31'000;
  now.objects = 5;
  now.epochs = 1;
  now.starved = Millis(2000);
  now.blocked = Millis(250);
  const auto line = [](std::string_view name, std::string_view value, std::string_view unit) {
    return fmt::format(R"({{"name":"{}","value":{},"time":77,"unit":"{}",)"
                       R"("dimensions":{{"Host":"job/algo-1","Channel":"train"}}}})"
                       "\n",
                       name, value, unit);
  };
  EXPECT_EQ(DataMetricLines({"job/algo-1", FromUnixMillis(77), Millis(60'000)}, before, now),
            line("InputBytes", "3E4", "Bytes") + line("InputObjects", "3E0", "Count") +
                line("InputEpochs", "1E0", "Count") + line("InputStarvedTime", "1.5E0", "Seconds") +
                line("InputBlockedTime", "2.5E-1", "Seconds") +
                line("InputThroughput", "5E2", "Bytes/Second"));
}

TEST(DataAccount, FilesReadOnDemandHaveReadsAndHits) {
  model::ChannelReport before;
  before.name = "train";
  before.mode = model::InputMode::kFastFile;
  model::ChannelReport now = before;
  now.reads = 10;
  now.hits = 8;
  now.fetched = 1000;
  const std::string lines =
      DataMetricLines({"job/algo-1", FromUnixMillis(77), Millis(60'000)}, before, now);
  EXPECT_THAT(lines, HasSubstr(R"("name":"InputReads","value":1E1)"));
  EXPECT_THAT(lines, HasSubstr(R"("name":"InputPrefetchHits","value":8E0)"));
  EXPECT_THAT(lines, HasSubstr(R"("name":"InputFetchedBytes","value":1E3)"));
  EXPECT_THAT(lines, testing::Not(HasSubstr("InputEpochs")));
}

TEST(DataAccount, AdviceForFastFileFollowsTheReads) {
  model::ChannelSpec channel;
  channel.mode = model::InputMode::kFastFile;
  model::ChannelReport report = Starved(60);
  report.objects = 100;
  report.fetched = 100 * 50'000;
  report.reads = 100;
  EXPECT_THAT(*StarvedNote(channel, report, Seconds(60), true), HasSubstr("objects are small"));
  report.fetched = std::int64_t{100} << 30;
  EXPECT_THAT(*StarvedNote(channel, report, Seconds(60), true), HasSubstr("reads jump"));
  report.hits = 90;
  EXPECT_THAT(*StarvedNote(channel, report, Seconds(60), true),
              HasSubstr("slower than the program"));
}

TEST(DataAccount, NotesOnlyWhatMatters) {
  model::ChannelSpec channel;
  channel.name = "train";
  EXPECT_FALSE(StarvedNote(channel, Starved(4), Seconds(5), false)) << "too short to tell";
  EXPECT_FALSE(StarvedNote(channel, Starved(20), Seconds(100), false)) << "a fifth is allowed";
  const auto note = StarvedNote(channel, Starved(41), Seconds(60), false);
  ASSERT_TRUE(note);
  EXPECT_EQ(*note,
            "channel 'train': the program waited for data for 41 s of 60 s (68 %); FastFile mode "
            "would let it read several objects at once, and read them again from memory");
}

TEST(DataAccount, AdviceFollowsTheCause) {
  model::ChannelSpec channel;
  EXPECT_THAT(*StarvedNote(channel, Starved(60, 3), Seconds(60), true), HasSubstr("File mode"));
  EXPECT_THAT(*StarvedNote(channel, Starved(60, 1), Seconds(60), true), HasSubstr("FastFile mode"));
  channel.attributes = {"image-ref", "label"};
  EXPECT_THAT(*StarvedNote(channel, Starved(60), Seconds(60), true), HasSubstr("ManifestFile"));
  channel.compression = "Gzip";
  EXPECT_THAT(*StarvedNote(channel, Starved(60), Seconds(60), false), HasSubstr("uncompressed"));
}

}  // namespace
}  // namespace sabia::agent
