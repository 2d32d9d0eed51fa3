#include "api/training_job_rules.h"

#include <gtest/gtest.h>

#include "api/testing/small_request.h"
#include "api/training_job_fields.h"
#include "model/training_request.h"
#include "wire/schema.h"

namespace sabia::api {
namespace {

// What CreateTrainingJob says before it looks at buckets and other jobs.
std::string Refusal(std::string_view change) {
  const json::object request = SmallRequest("j", change);
  const auto check = [&]() -> wire::AwsResult<void> {
    RETURN_IF_ERROR(wire::Validate(
        *wire::FindService("sagemaker")->FindOperation("CreateTrainingJob")->input, request));
    RETURN_IF_ERROR(RefuseUnsupportedFields(CreateTrainingJobFields(), request));
    json::object completed = request;
    model::CompleteTrainingRequest(completed);
    return CheckRequest(completed);
  };
  const auto checked = check();
  return checked ? "accepted" : checked.error().code + ": " + checked.error().message;
}

TEST(TrainingJobRules, TheSmallRequestIsAccepted) { EXPECT_EQ(Refusal("{}"), "accepted"); }

TEST(TrainingJobRules, ASlashAtTheEndOfALocalPathMeansNothing) {
  EXPECT_EQ(Refusal(R"({"CheckpointConfig": {"S3Uri": "s3://models/c",
                                             "LocalPath": "/opt/ml/checkpoints/"}})"),
            "accepted");
}

TEST(TrainingJobRules, CompletingTwiceChangesNothing) {
  json::object once = SmallRequest("j");
  model::CompleteTrainingRequest(once);
  json::object twice = once;
  model::CompleteTrainingRequest(twice);
  EXPECT_EQ(json::value(once), json::value(twice));
}

struct RuleCase {
  const char* change;
  const char* expected;  // the beginning of the refusal
};

#define CHANNEL(extra)                                                                          \
  R"({"InputDataConfig": [{"ChannelName": "t", "DataSource": {"S3DataSource": {"S3DataType": )" \
  R"("S3Prefix", "S3Uri": "s3://data/train"}}, )" extra "}]}"

constexpr RuleCase kRefused[] = {
    RuleCase{R"({"AlgorithmSpecification": null})",
             "ValidationException: 1 validation error detected: Value null at "
             "'algorithmSpecification'"},
    RuleCase{R"({"AlgorithmSpecification": {"TrainingInputMode": "File"}})",
             "ValidationException: 1 validation error detected: Value null at "
             "'algorithmSpecification.trainingImage'"},
    RuleCase{R"({"ResourceConfig": null})",
             "ValidationException: 1 validation error detected: Value null at 'resourceConfig'"},
    RuleCase{R"({"ResourceConfig": {"InstanceType": "ml.m5.large", "VolumeSizeInGB": 1}})",
             "ValidationException: 1 validation error detected: Value null at "
             "'resourceConfig.instanceCount'"},
    RuleCase{R"({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 0}})",
             "ValidationException: InstanceCount in ResourceConfig must be at least 1"},
    RuleCase{R"({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 101}})",
             "ResourceLimitExceeded: The request delta of 101 Instances for 'Instances for a "
             "training job'"},
    RuleCase{
        R"({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 99999}})",
        "ResourceLimitExceeded: The request delta of 99999 GBs"},
    RuleCase{
        R"({"ResourceConfig": {"InstanceCount": 1, "InstanceGroups": [{"InstanceType": "ml.m5.large",
                     "InstanceCount": 1, "InstanceGroupName": "a"}]}})",
        "ValidationException: InstanceGroups cannot be combined"},
    RuleCase{R"({"ResourceConfig": {"InstanceGroups": [
                     {"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": "a"},
                     {"InstanceType": "ml.m5.large", "InstanceCount": 1,
                      "InstanceGroupName": "a"}]}})",
             "ValidationException: Instance group names must be unique"},
    RuleCase{R"({"StoppingCondition": {"MaxRuntimeInSeconds": 9999999}})",
             "ResourceLimitExceeded: The request delta of 9999999 Seconds"},
    RuleCase{CHANNEL(R"("CompressionType": "Gzip")"),
             "ValidationException: CompressionType Gzip of channel 't'"},
    RuleCase{CHANNEL(R"("RecordWrapperType": "RecordIO")"),
             "ValidationException: RecordWrapperType RecordIO of channel 't'"},
    RuleCase{CHANNEL(R"("ShuffleConfig": {})"),
             "ValidationException: 1 validation error detected: Value null at "
             "'inputDataConfig.1.member.shuffleConfig.seed'"},
    RuleCase{
        R"({"InputDataConfig": [{"ChannelName": "t", "InputMode": "FastFile", "DataSource": {"S3DataSource":
                     {"S3DataType": "ManifestFile", "S3Uri": "s3://data/train"}}}]})",
        "ValidationException: Input mode FastFile of channel 't' requires S3DataType S3Prefix"},
    RuleCase{R"({"InputDataConfig": [{"ChannelName": "t", "DataSource": {"S3DataSource":
                     {"S3DataType": "AugmentedManifestFile", "S3Uri": "s3://data/train"}}}]})",
             "ValidationException: S3DataType AugmentedManifestFile of channel 't' is only "
             "supported in Pipe mode; the channel's input mode is File"},
    RuleCase{R"({"InputDataConfig": [{"ChannelName": "t", "InputMode": "Pipe",
                     "DataSource": {"S3DataSource":
                     {"S3DataType": "AugmentedManifestFile", "S3Uri": "s3://data/train"}}}]})",
             "ValidationException: S3DataType AugmentedManifestFile of channel 't' requires "
             "AttributeNames"},
    RuleCase{R"({"InputDataConfig": [{"ChannelName": "t", "InputMode": "Pipe",
                     "DataSource": {"S3DataSource": {"AttributeNames": ["a"],
                     "S3DataType": "S3Prefix", "S3Uri": "s3://data/train"}}}]})",
             "ValidationException: AttributeNames of channel 't' can only be used with S3DataType "
             "AugmentedManifestFile, and it is S3Prefix"},
    RuleCase{R"({"InputDataConfig": [
                     {"ChannelName": "t", "InputMode": "Pipe", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}},
                     {"ChannelName": "t_12", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}}]})",
             "ValidationException: Channel 't_12' cannot be used beside channel 't'"},
    RuleCase{
        R"({"InputDataConfig": [{"ChannelName": "t", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix",
                     "S3Uri": "s3://data/train", "InstanceGroupNames": ["g"]}}}]})",
        "ValidationException: Channel 't' names instance group 'g'"},
    RuleCase{R"({"InputDataConfig": [
                     {"ChannelName": "t", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}},
                     {"ChannelName": "t", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}}]})",
             "ValidationException: Channel names must be unique, and 't' is given twice"},
    RuleCase{R"({"InputDataConfig": [{"ChannelName": "..", "DataSource": {"S3DataSource":
                     {"S3DataType": "S3Prefix", "S3Uri": "s3://data"}}}]})",
             "ValidationException: Channel name '..' is not allowed"},
    RuleCase{R"({"InputDataConfig": [{"ChannelName": "t", "DataSource": {}}]})",
             "ValidationException: DataSource of channel 't' must hold an S3DataSource"},
    RuleCase{R"({"CheckpointConfig": {"S3Uri": "s3://models/c", "LocalPath": "relative"}})",
             "ValidationException: LocalPath in CheckpointConfig cannot be used: 'relative'"},
    RuleCase{R"({"CheckpointConfig": {"S3Uri": "s3://models/c", "LocalPath": "/opt/../etc"}})",
             "ValidationException: LocalPath in CheckpointConfig cannot be used: '/opt/../etc'"},
    RuleCase{R"({"OutputDataConfig": {"S3OutputPath": "s3://X/y"}})",
             "ValidationException: S3OutputPath 's3://X/y' in OutputDataConfig is not an S3 URI"},
    RuleCase{R"({"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]})",
             "ValidationException: Tag keys must be unique, and 'a' is given twice"},
    RuleCase{R"({"Tags": [{"Key": "aws:a", "Value": "1"}]})",
             "ValidationException: Tag key 'aws:a' is not allowed"},
    RuleCase{R"({"RoleArn": "not-a-role-arn-of-any-kind"})",
             "ValidationException: 1 validation error detected: Value "
             "'not-a-role-arn-of-any-kind' at 'roleArn'"}};

TEST(TrainingJobRules, PipeGoesWithEverySourceAndFormat) {
  EXPECT_EQ(Refusal(R"({"AlgorithmSpecification": {"TrainingImage": "sabia/python:3",
                        "TrainingInputMode": "Pipe"}, "InputDataConfig": null})"),
            "accepted");
  EXPECT_EQ(Refusal(CHANNEL(R"("InputMode": "Pipe", "CompressionType": "Gzip",
                               "RecordWrapperType": "RecordIO", "ShuffleConfig": {"Seed": -1})")),
            "accepted");
  EXPECT_EQ(Refusal(CHANNEL(R"("ShuffleConfig": {"Seed": 1})")), "accepted");
  EXPECT_EQ(Refusal(R"({"InputDataConfig": [{"ChannelName": "t", "InputMode": "Pipe",
                     "DataSource": {"S3DataSource": {"AttributeNames": ["a-ref", "b"],
                     "S3DataType": "AugmentedManifestFile", "S3Uri": "s3://data/train"}}}]})"),
            "accepted");
  // Names that only look like a FIFO's.
  EXPECT_EQ(Refusal(R"({"InputDataConfig": [
                     {"ChannelName": "t", "InputMode": "Pipe", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}},
                     {"ChannelName": "t_x1", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}},
                     {"ChannelName": "t_1", "InputMode": "Pipe", "DataSource": {"S3DataSource": {
                      "S3DataType": "S3Prefix", "S3Uri": "s3://data"}}}]})"),
            "accepted");
}

TEST(TrainingJobRules, Refuses) {
  for (const RuleCase& rule : kRefused) {
    const std::string text = Refusal(rule.change);
    EXPECT_TRUE(text.starts_with(rule.expected)) << rule.change << "\n" << text;
  }
}

}  // namespace
}  // namespace sabia::api
