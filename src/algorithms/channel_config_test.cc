#include "algorithms/channel_config.h"

#include <gtest/gtest.h>

#include <string>

namespace sabia::algorithms {
namespace {

std::string Channel(const std::string& type, const std::string& mode = "File",
                    const std::string& distribution = "FullyReplicated") {
  return R"({"ContentType":")" + type + R"(","TrainingInputMode":")" + mode +
         R"(","S3DistributionType":")" + distribution + R"(","RecordWrapperType":"None"})";
}

Result<ChannelConfig> Read(const std::string& text) {
  return ReadChannelConfig(*ParseJsonObject(text));
}

std::string Problem(const std::string& text) {
  const auto result = Read(text);
  return result ? "accepted" : result.error().message;
}

TEST(ChannelConfig, TrainGoverns) {
  const auto config = Read(R"({"train":)" + Channel("text/csv") + R"(,"validation":)" +
                           Channel("text/libsvm") + "}");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->format, DataFormat::kCsv);
  EXPECT_TRUE(config->validation);
  EXPECT_FALSE(config->pipe);
}

TEST(ChannelConfig, NamesMissingAndUnknownChannels) {
  EXPECT_EQ(Problem("{}"), "Missing required channel: train");
  EXPECT_EQ(Problem(R"({"train":)" + Channel("csv") + R"(,"test":)" + Channel("csv") + "}"),
            "Extraneous channel found: test");
  EXPECT_EQ(Problem(R"({"train":)" + Channel("csv") + R"(,"code":)" + Channel("text/python") + "}"),
            "accepted");
  EXPECT_EQ(Problem(R"({"train":7})"), "inputdataconfig.json: channel 'train' is no object");
}

TEST(ChannelConfig, RefusesCombinationsByName) {
  EXPECT_EQ(
      Problem(R"({"train":)" + Channel("text/libsvm", "Pipe") + "}"),
      "Channel configuration for 'train' channel is not supported: {'ContentType': 'text/libsvm', "
      "'TrainingInputMode': 'Pipe', 'S3DistributionType': 'FullyReplicated', 'RecordWrapperType': "
      "'None'}");
  EXPECT_TRUE(Problem(R"({"train":)" + Channel("csv", "FastFile") + "}")
                  .starts_with("Channel configuration for"));
  EXPECT_TRUE(Problem(R"({"train":)" + Channel("csv", "File", "Spread") + "}")
                  .starts_with("Channel configuration"));
  EXPECT_EQ(Problem(R"({"train":)" + Channel("csv", "Pipe", "ShardedByS3Key") + "}"), "accepted");
}

TEST(ContentType, KnowsTheFormats) {
  EXPECT_EQ(ParseContentType(""), DataFormat::kLibsvm);
  EXPECT_EQ(ParseContentType("text/x-libsvm"), DataFormat::kLibsvm);
  EXPECT_EQ(ParseContentType("Text/LibSVM ;charset=utf8"), DataFormat::kLibsvm);
  EXPECT_EQ(ParseContentType("text/csv; label_size=1"), DataFormat::kCsv);
  EXPECT_EQ(ParseContentType("csv;charset=utf8"), DataFormat::kCsv);
  EXPECT_EQ(ParseContentType("application/x-recordio-protobuf"), DataFormat::kRecordIo);
}

TEST(ContentType, RefusesOthersByName) {
  EXPECT_EQ(ParseContentType("text/csv;label_size=0").error().message,
            "text/csv;label_size=0 is not an accepted csv ContentType. Optional parameter "
            "label_size must be equal "
            "to 1");
  EXPECT_EQ(ParseContentType("application/json").error().message,
            "application/json is not an accepted ContentType: csv, libsvm, parquet, "
            "recordio-protobuf, text/csv, "
            "text/libsvm, text/x-libsvm, application/x-parquet, application/x-recordio-protobuf.");
  EXPECT_EQ(ParseContentType("application/x-parquet").error().message,
            "ContentType application/x-parquet is not available in this XGBoost: give the data as "
            "text/csv, "
            "text/libsvm or application/x-recordio-protobuf");
}

}  // namespace
}  // namespace sabia::algorithms
