#include "agent/contract_files.h"

#include <gtest/gtest.h>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

model::InstanceSpec TwoHosts() {
  model::InstanceSpec spec;
  spec.host = "algo-1";
  spec.hosts = {"algo-1", "algo-2"};
  spec.instance_type = "ml.c5.xlarge";
  spec.groups = {{"homogeneousCluster", "ml.c5.xlarge", {"algo-2", "algo-1"}}};
  return spec;
}

// Golden: as printed by a real job.
TEST(ContractFiles, ResourceConfigIsThatOfARealJob) {
  EXPECT_EQ(
      json::serialize(ResourceConfig(TwoHosts())),
      R"({"current_group_name":"homogeneousCluster","current_host":"algo-1",)"
      R"("current_instance_type":"ml.c5.xlarge","hosts":["algo-1","algo-2"],)"
      R"("instance_groups":[{"hosts":["algo-2","algo-1"],"instance_group_name":"homogeneousCluster",)"
      R"("instance_type":"ml.c5.xlarge"}],"network_interface_name":"lo"})");
}

TEST(ContractFiles, GroupsDefaultToOneOfAllHosts) {
  model::InstanceSpec spec = TwoHosts();
  spec.groups.clear();
  EXPECT_EQ(json::serialize(ResourceConfig(spec).at("instance_groups")),
            R"([{"hosts":["algo-1","algo-2"],"instance_group_name":"homogeneousCluster",)"
            R"("instance_type":"ml.c5.xlarge"}])");
}

TEST(ContractFiles, InputDataConfig) {
  model::InstanceSpec spec;
  model::ChannelSpec train;
  train.name = "train";
  train.content_type = "text/csv";
  model::ChannelSpec fast;
  fast.name = "fast";
  fast.mode = model::InputMode::kFastFile;
  fast.distribution = "ShardedByS3Key";
  spec.channels = {train, fast};
  EXPECT_EQ(json::serialize(InputDataConfig(spec)),
            R"({"train":{"ContentType":"text/csv","TrainingInputMode":"File",)"
            R"("S3DistributionType":"FullyReplicated","RecordWrapperType":"None"},)"
            R"("fast":{"TrainingInputMode":"FastFile","S3DistributionType":"ShardedByS3Key",)"
            R"("RecordWrapperType":"None"}})");
  spec.image = model::ImageKind::kXgboost;
  EXPECT_EQ(InputDataConfig(spec).at("fast").at("TrainingInputMode"), "File");
}

TEST(ContractFiles, HyperparametersStayStringsByteForByte) {
  model::InstanceSpec spec;
  spec.hyperparameters = {{"a", "1"}, {"objective", "\"reg:squarederror\""}, {"u", "ü\n"}};
  EXPECT_EQ(ContractFiles(spec).at("hyperparameters.json"),
            R"({"a":"1","objective":"\"reg:squarederror\"","u":"ü\n"})");
}

TEST(ContractFiles, TheRest) {
  model::InstanceSpec spec;
  spec.metrics = {{"loss", "loss=(\\S+)"}};
  auto files = ContractFiles(spec);
  EXPECT_EQ(files.at("metric-definition-regex.json"),
            "[{\"Name\":\"loss\",\"Regex\":\"loss=(\\\\S+)\"}]");
  EXPECT_EQ(files.at("init-config.json"), "{}");
  EXPECT_EQ(files.at("upstreamoutputdataconfig.json"), "[]");
  EXPECT_FALSE(files.contains("checkpointconfig.json"));
  spec.checkpoint_s3_uri = "s3://b/c";
  spec.config_files = {{"trainingjobconfig.json", "{\"a\":1}"}, {"init-config.json", "{\"b\":2}"}};
  files = ContractFiles(spec);
  EXPECT_EQ(files.at("checkpointconfig.json"),
            R"({"S3Uri":"s3://b/c","LocalPath":"/opt/ml/checkpoints"})");
  EXPECT_EQ(files.at("trainingjobconfig.json"), "{\"a\":1}");
  EXPECT_EQ(files.at("init-config.json"), "{\"b\":2}");
}

TEST(ContractFiles, TreeIsWrittenAndRepeatable) {
  const env::TemporaryDirectory base;
  const Layout layout(base.path());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(MakeInstanceTree(layout));
    ASSERT_TRUE(WriteContractFiles(TwoHosts(), layout.config()));
  }
  env::PosixFiles files;
  for (const char* path : {"model", "output/data", "output/metrics/sagemaker", "checkpoints",
                           "code", "input/data", "input/config/resourceconfig.json"}) {
    EXPECT_TRUE(files.Exists(layout.root() / path).value_or(false)) << path;
  }
}

TEST(ContractFiles, FileNamesThatAreNoNamesAreRefused) {
  const env::TemporaryDirectory base;
  for (const char* name : {"../evil", "a/b", "", ".."}) {
    model::InstanceSpec spec = TwoHosts();
    spec.config_files = {{name, "x"}};
    EXPECT_FALSE(WriteContractFiles(spec, base.path())) << name;
  }
}

}  // namespace
}  // namespace sabia::agent
