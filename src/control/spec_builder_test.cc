#include "control/spec_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::control {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SpecBuilder : public ::testing::Test {
 protected:
  SpecBuilder() {
    job_.uid = "0123456789ab";
    job_.name = "job";
    job_.arn = "arn:aws:sagemaker:us-west-2:123456789012:training-job/job";
    job_.region = "us-west-2";
    job_.account = "123456789012";
    job_.request = {
        {"TrainingJobName", "job"},
        {"RoleArn", "arn:aws:iam::123456789012:role/r"},
        {"AlgorithmSpecification",
         {{"TrainingImage", "sabia/python:3"},
          {"MetricDefinitions",
           json::array{json::object{{"Name", "loss"}, {"Regex", "loss=(.*)"}}}}}},
        {"HyperParameters", {{"objective", "\"reg:squarederror\""}, {"n", "1"}}},
        {"OutputDataConfig", {{"S3OutputPath", "s3://out/p/"}, {"CompressionType", "GZIP"}}},
        {"StoppingCondition", {{"MaxRuntimeInSeconds", 100}}}};
    for (int number = 1; number <= 10; ++number) Host(number, "homogeneousCluster", "ml.m5.large");
  }

  void Host(int number, const std::string& group, const std::string& type) {
    model::InstanceRecord host;
    host.id = model::InstanceId(job_.uid, 1, number);
    host.job_name = job_.name;
    host.number = number;
    host.group = group;
    host.instance_type = type;
    host.vcpus = 2;
    host.memory_bytes = 1 << 30;
    host.leased = FromUnixMillis(1'700'000'000'500);
    hosts_.push_back(host);
  }

  model::InstanceSpec Build(std::size_t index = 0) {
    auto built = BuildSpec({job_, hosts_, hosts_[index], {}, {"ASIA", "secret", "token"}},
                           {"http://127.0.0.1:9000", "/usr/bin/python3", Millis(120'000)},
                           store::Paths("/home"));
    EXPECT_TRUE(built) << built.error().message;
    return built ? built->spec : model::InstanceSpec{};
  }

  model::TrainingJob job_;
  std::vector<model::InstanceRecord> hosts_;
};

TEST_F(SpecBuilder, SortsHostsAsText) {
  const auto spec = Build();
  ASSERT_EQ(spec.hosts.size(), 10u);
  EXPECT_EQ(spec.hosts[1], "algo-10");
  EXPECT_EQ(spec.hosts[2], "algo-2");
  EXPECT_FALSE(spec.upload_on_exit);
  hosts_.resize(1);
  EXPECT_TRUE(Build().upload_on_exit) << "a single host needs no orders to upload";
}

TEST_F(SpecBuilder, NamesGroupsWithTheirHosts) {
  hosts_.clear();
  Host(1, "lead", "ml.m5.large");
  Host(2, "work", "ml.c5.xlarge");
  Host(3, "work", "ml.c5.xlarge");
  const auto spec = Build(2);
  EXPECT_EQ(spec.group, "work");
  EXPECT_EQ(spec.instance_type, "ml.c5.xlarge");
  ASSERT_EQ(spec.groups.size(), 2u);
  EXPECT_THAT(spec.groups[1].hosts, ElementsAre("algo-2", "algo-3"));
}

TEST_F(SpecBuilder, PassesHyperparametersByteForByte) {
  EXPECT_EQ(Build().hyperparameters.at("objective"), "\"reg:squarederror\"");
}

TEST_F(SpecBuilder, NamesWhereTheLogGoesByTheSecondOfTheLease) {
  const auto spec = Build(1);
  EXPECT_EQ(spec.log_group, "/aws/sagemaker/TrainingJobs");
  EXPECT_EQ(spec.log_stream, "job/algo-2-1700000000");
  EXPECT_EQ(spec.log_file,
            store::Paths("/home").log_stream(spec.log_group, spec.log_stream).native());
}

TEST_F(SpecBuilder, GivesTheAttemptWhatIsLeftOfTheRunTime) {
  EXPECT_EQ(Build().run_limit, Millis(100'000));
  const WallTime t0 = FromUnixMillis(1'700'000'000'000);
  job_.attempts.push_back({1, true, t0, t0 + Seconds(1), t0 + Seconds(31), "interrupted"});
  EXPECT_EQ(Build().run_limit, Millis(70'000));
  job_.attempts.push_back({2, true, t0, t0, t0 + Seconds(500), "interrupted"});
  EXPECT_EQ(Build().run_limit, Millis(1)) << "zero would mean no limit";
}

TEST_F(SpecBuilder, AddsTheMetricsThatTheImageImpliesAfterTheGivenOnes) {
  EXPECT_EQ(Build().metrics.size(), 1u);
  job_.request.Edit()["AlgorithmSpecification"].get_object()["TrainingImage"] =
      "sagemaker-xgboost:1.7-1";
  const auto spec = Build();
  EXPECT_EQ(spec.image, model::ImageKind::kXgboost);
  ASSERT_GT(spec.metrics.size(), 1u);
  EXPECT_EQ(spec.metrics[0].name, "loss");
}

TEST_F(SpecBuilder, WritesConfigFilesOfTheRequest) {
  job_.request.Edit()["DebugHookConfig"] = {{"S3OutputPath", "s3://out/debug"}};
  job_.request.Edit()["ProfilerConfig"] = {{"DisableProfiler", true}};
  const auto files = Build().config_files;
  EXPECT_EQ(ParseJsonObject(files.at("debughookconfig.json"))->at("LocalPath"),
            "/opt/ml/output/tensors");
  EXPECT_EQ(ParseJsonObject(files.at("profilerconfig.json"))->at("DisableProfiler"), true);
  EXPECT_EQ(*ParseJsonObject(files.at("trainingjobconfig.json")), job_.request.get());
  EXPECT_FALSE(files.contains("tensorboardoutputconfig.json"));
}

TEST_F(SpecBuilder, KeepsCheckpointsWhereTheRequestSays) {
  EXPECT_EQ(Build().checkpoint_s3_uri, "");
  job_.request.Edit()["CheckpointConfig"] = {{"S3Uri", "s3://out/ckpt"}};
  EXPECT_EQ(Build().checkpoint_s3_uri, "s3://out/ckpt");
  EXPECT_EQ(Build().checkpoint_local_path, "/opt/ml/checkpoints");
  job_.request.Edit()["CheckpointConfig"].get_object()["LocalPath"] = "/opt/ml/mine";
  EXPECT_EQ(Build().checkpoint_local_path, "/opt/ml/mine");
}

TEST_F(SpecBuilder, SignalsEveryProcessOnlyWhenAsked) {
  EXPECT_FALSE(Build().signal_all_processes);
  job_.request.Edit()["Environment"] = {{"SABIA_SIGNAL_ALL_PROCESSES", "true"}};
  EXPECT_TRUE(Build().signal_all_processes);
}

TEST_F(SpecBuilder, KeepsSoManyCheckpointsAsAsked) {
  EXPECT_EQ(Build().checkpoints_keep, 0);
  job_.request.Edit()["Environment"] = {{"SABIA_CHECKPOINTS_KEEP", "3"}};
  EXPECT_EQ(Build().checkpoints_keep, 3);
  for (const char* bad : {"", "0", "-1", "3x", "many"}) {
    job_.request.Edit()["Environment"] = {{"SABIA_CHECKPOINTS_KEEP", bad}};
    const auto built = BuildSpec({job_, hosts_, hosts_[0], {}, {}}, {}, store::Paths("/home"));
    ASSERT_FALSE(built) << bad;
    EXPECT_EQ(built.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(SpecBuilder, RefusesAnImageThatNobodyKnows) {
  job_.request.Edit()["AlgorithmSpecification"].get_object()["TrainingImage"] = "nobody/knows:1";
  const auto built = BuildSpec({job_, hosts_, hosts_[0], {}, {}}, {}, store::Paths("/home"));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SpecBuilder, KeepsSecretsOutOfEverythingButTheirPlace) {
  const auto spec = Build();
  EXPECT_EQ(spec.secret_access_key, "secret");
  for (const auto& [name, content] : spec.config_files)
    EXPECT_EQ(content.find("secret"), std::string::npos) << name;
  EXPECT_THAT(spec.environment, IsEmpty());
}

}  // namespace
}  // namespace sabia::control
