// Golden values were made with the rules of the SageMaker training toolkit's environment and
// mapping modules.
#include "agent/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

using testing::ElementsAre;

model::InstanceSpec Script() {
  model::InstanceSpec spec;
  spec.job_name = "job";
  spec.job_arn = "arn:job";
  spec.region = "us-west-2";
  spec.host = "algo-1";
  spec.hosts = {"algo-1", "algo-2"};
  spec.instance_type = "ml.m5.xlarge";
  spec.vcpus = 4;
  spec.python = "/usr/bin/python3";
  spec.image = model::ImageKind::kPython;
  spec.hyperparameters = {{"epochs", "10"},
                          {"learning-rate", "0.001"},
                          {"tiny", "1e-5"},
                          {"name", "\"resnet\""},
                          {"plain", "resnet"},
                          {"flag", "true"},
                          {"none", "null"},
                          {"list", "[1, \"a\", 2.0]"},
                          {"map", "{\"b\": 1, \"a\": \"x\"}"},
                          {"k", "v"},
                          {"big", "123456789012345678901234567890"},
                          {"_tuning_objective_metric", "loss"},
                          {"sagemaker_program", "\"train.py\""},
                          {"sagemaker_submit_directory", "\"s3://b/sourcedir.tar.gz\""},
                          {"sagemaker_container_log_level", "10"},
                          {"sagemaker_use_mpi", "true"},
                          {"sagemaker_job_name", "\"job\""}};
  model::ChannelSpec train;
  train.name = "train";
  model::ChannelSpec eval;
  eval.name = "eval-set";
  spec.channels = {train, eval};
  spec.endpoint = "http://127.0.0.1:9000";
  spec.access_key_id = "AK";
  spec.secret_access_key = "SK";
  spec.session_token = "ST";
  return spec;
}

TEST(Environment, ArgumentsAreThoseOfTheToolkit) {
  EXPECT_THAT(UserArguments(Script()),
              ElementsAre("--big", "123456789012345678901234567890", "--epochs", "10", "--flag",
                          "True", "-k", "v", "--learning-rate", "0.001", "--list", "[1, 'a', 2.0]",
                          "--map", "a=x,b=1", "--name", "resnet", "--none", "", "--plain", "resnet",
                          "--tiny", "1e-05"));
}

TEST(Environment, ToolkitVariables) {
  const Variables got = ToolkitVariables(Script());
  const Variables expected = {
      {"SM_HOSTS", R"(["algo-1","algo-2"])"},
      {"SM_CURRENT_HOST", "algo-1"},
      {"SM_CURRENT_INSTANCE_TYPE", "ml.m5.xlarge"},
      {"SM_CURRENT_INSTANCE_GROUP", "homogeneousCluster"},
      {"SM_CURRENT_INSTANCE_GROUP_HOSTS", R"(["algo-1","algo-2"])"},
      {"SM_INSTANCE_GROUPS", R"(["homogeneousCluster"])"},
      {"SM_INSTANCE_GROUPS_DICT",
       R"({"homogeneousCluster":{"hosts":["algo-1","algo-2"],"instance_group_name":"homogeneousCluster",)"
       R"("instance_type":"ml.m5.xlarge"}})"},
      {"SM_DISTRIBUTION_INSTANCE_GROUPS", "[]"},
      {"SM_IS_HETERO", "false"},
      {"SM_NETWORK_INTERFACE_NAME", "lo"},
      {"SM_HPS",
       R"({"big":"123456789012345678901234567890","epochs":10,"flag":true,"k":"v","learning-rate":0.001,)"
       R"("list":[1,"a",2.0],"map":{"a":"x","b":1},"name":"resnet","none":null,"plain":"resnet","tiny":1e-05})"},
      {"SM_HP_EPOCHS", "10"},
      {"SM_HP_LEARNING-RATE", "0.001"},
      {"SM_HP_FLAG", "true"},
      {"SM_HP_NONE", ""},
      {"SM_HP_NAME", "resnet"},
      {"SM_USER_ENTRY_POINT", "train.py"},
      {"SM_MODULE_NAME", "train"},
      {"SM_MODULE_DIR", "s3://b/sourcedir.tar.gz"},
      {"SM_FRAMEWORK_PARAMS", R"({"sagemaker_use_mpi":true})"},
      {"SM_FRAMEWORK_MODULE", ""},
      {"SM_LOG_LEVEL", "10"},
      {"SM_CHANNELS", R"(["eval-set","train"])"},
      {"SM_CHANNEL_TRAIN", "/opt/ml/input/data/train"},
      {"SM_CHANNEL_EVAL-SET", "/opt/ml/input/data/eval-set"},
      {"SM_INPUT_DIR", "/opt/ml/input"},
      {"SM_INPUT_CONFIG_DIR", "/opt/ml/input/config"},
      {"SM_OUTPUT_DIR", "/opt/ml/output"},
      {"SM_OUTPUT_DATA_DIR", "/opt/ml/output/data"},
      {"SM_OUTPUT_INTERMEDIATE_DIR", "/opt/ml/output/intermediate"},
      {"SM_MODEL_DIR", "/opt/ml/model"},
      {"SM_NUM_CPUS", "4"},
      {"SM_NUM_GPUS", "0"},
      {"SM_NUM_NEURONS", "0"},
  };
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(got.contains(name)) << name;
    EXPECT_EQ(got.at(name), value) << name;
  }
  for (const char* name :
       {"SM_RESOURCE_CONFIG", "SM_INPUT_DATA_CONFIG", "SM_TRAINING_ENV", "SM_USER_ARGS"}) {
    EXPECT_TRUE(got.contains(name)) << name;
  }
  const auto training = ParseJsonObject(got.at("SM_TRAINING_ENV"));
  ASSERT_TRUE(training);
  EXPECT_EQ(training->at("master_hostname"), "algo-1");
  EXPECT_EQ(training->at("hyperparameters").at("epochs"), 10);
  EXPECT_EQ(training->at("channel_input_dirs").at("train"), "/opt/ml/input/data/train");
}

TEST(Environment, RequestWinsOverPlatformButNotOverTheJobsName) {
  model::InstanceSpec spec = Script();
  spec.environment = {
      {"AWS_REGION", "eu-central-1"}, {"SM_MODEL_DIR", "/x"}, {"TRAINING_JOB_NAME", "fake"}};
  const Variables got = ProgramEnvironment(spec);
  EXPECT_EQ(got.at("AWS_REGION"), "eu-central-1");
  EXPECT_EQ(got.at("SM_MODEL_DIR"), "/x");
  EXPECT_EQ(got.at("TRAINING_JOB_NAME"), "job");
  EXPECT_EQ(got.at("TRAINING_JOB_ARN"), "arn:job");
  EXPECT_EQ(got.at("AWS_ENDPOINT_URL"), "http://127.0.0.1:9000");
  EXPECT_EQ(got.at("AWS_SESSION_TOKEN"), "ST");
}

TEST(Environment, IsolationLeavesNoCredentials) {
  model::InstanceSpec spec = Script();
  spec.network_isolation = true;
  for (const auto& [name, value] : ProgramEnvironment(spec)) {
    EXPECT_NE(value, "AK") << name;
    EXPECT_NE(value, "SK") << name;
    EXPECT_NE(value, "ST") << name;
    EXPECT_NE(name, "AWS_ENDPOINT_URL");
  }
}

TEST(Environment, OtherImagesGetNoToolkitVariables) {
  model::InstanceSpec spec = Script();
  spec.image = model::ImageKind::kEntrypoint;
  for (const auto& [name, value] : ProgramEnvironment(spec))
    EXPECT_FALSE(name.starts_with("SM_")) << name;
}

TEST(Environment, ProgramMayComeFromTheEnvironment) {
  model::InstanceSpec spec;
  EXPECT_EQ(UserProgram(spec), "");
  spec.environment = {{"SAGEMAKER_PROGRAM", "run.sh"},
                      {"SAGEMAKER_SUBMIT_DIRECTORY", "/opt/ml/input/data/code"}};
  EXPECT_EQ(UserProgram(spec), "run.sh");
  EXPECT_EQ(SubmitDirectory(spec), "/opt/ml/input/data/code");
}

}  // namespace
}  // namespace sabia::agent
