#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/codec.h"
#include "wire/gen/cloudwatch.h"
#include "wire/gen/sagemaker.h"
#include "wire/protocol.h"

namespace sabia::wire {
namespace {

using testing::HasSubstr;

const ServiceSchema& SageMaker() { return *FindService("sagemaker"); }

Call CallOf(const ServiceSchema& schema, std::string_view action, Protocol protocol) {
  return Call{schema, *schema.FindOperation(action), protocol};
}

AwsResult<json::object> Decode(std::string_view body) {
  const Headers headers;
  const QueryParameters query;
  return DecodeRequest(CallOf(SageMaker(), "ListTags", Protocol::kJson11),
                       {headers, query, body, {}});
}

TEST(ProtocolJson, BodiesAreObjects) {
  EXPECT_EQ(*Decode(R"({"ResourceArn":"a"})"), json::object({{"ResourceArn", "a"}}));
  EXPECT_EQ(*Decode(""), json::object());
  EXPECT_EQ(*Decode(" \n"), json::object());
  for (const std::string body : {"[]", "3", "{", "{\"a\":1}x", "{\"a\":\"\xff\"}", "nul"}) {
    const auto decoded = Decode(body);
    ASSERT_FALSE(decoded) << body;
    EXPECT_EQ(decoded.error().code, "SerializationException") << body;
    EXPECT_EQ(decoded.error().status, 400u);
  }
}

TEST(ProtocolJson, DeepNestingIsRefused) {
  std::string body;
  for (int i = 0; i < 100'000; ++i) body += "{\"a\":";
  const auto decoded = Decode(body);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("could not be parsed"));
}

TEST(ProtocolJson, SuccessIsTheOutput) {
  const auto call = CallOf(SageMaker(), "ListTags", Protocol::kJson11);
  const Response response = EncodeSuccess(call, json::object({{"Tags", json::array()}}), "id");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.headers.Get("content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(response.body, R"({"Tags":[]})");
}

TEST(ProtocolJson, ModelledErrorsHaveACapitalMessage) {
  Response response =
      EncodeError(SageMaker(), Protocol::kJson11, {"ResourceInUse", 400, "taken", {}}, "id");
  EXPECT_EQ(response.body, R"({"__type":"ResourceInUse","Message":"taken"})");
  EXPECT_EQ(response.status, 400u);
  response =
      EncodeError(SageMaker(), Protocol::kJson11, {"ValidationException", 400, "bad", {}}, "id");
  EXPECT_EQ(response.body, R"({"__type":"ValidationException","message":"bad"})");
  EXPECT_FALSE(response.headers.Has("x-amzn-query-error"));
}

TEST(ProtocolJson, QueryCompatibleErrorsNameTheQueryCode) {
  const ServiceSchema& cloudwatch = *FindService("cloudwatch");
  const Response response = EncodeError(cloudwatch, Protocol::kJson10,
                                        {"InvalidParameterValueException", 400, "bad", {}}, "id");
  EXPECT_EQ(response.headers.Get("x-amzn-query-error"), "InvalidParameterValue;Sender");
  EXPECT_EQ(response.headers.Get("content-type"), "application/x-amz-json-1.0");
  EXPECT_THAT(response.body, HasSubstr(R"("__type":"InvalidParameterValueException")"));
}

TEST(ProtocolJson, StructsDecodeWhatTheyEncode) {
  sagemaker::CreateTrainingJobRequest request;
  request.training_job_name = "abalone";
  request.hyper_parameters = {{"num_round", "10"}, {"eta", "0.2"}};
  request.input_data_config.emplace();
  sagemaker::Channel channel;
  channel.channel_name = "train";
  channel.data_source.emplace().s3_data_source.emplace().s3_uri = "s3://b/train";
  request.input_data_config->push_back(channel);
  request.stopping_condition.emplace().max_runtime_in_seconds = 60;
  request.enable_managed_spot_training = true;
  request.tags.emplace();
  const json::object encoded = request.Encode();
  EXPECT_EQ(json::serialize(encoded.at("Tags")), "[]") << "an empty list is not an absent one";
  EXPECT_FALSE(encoded.contains("RoleArn"));
  EXPECT_EQ(sagemaker::CreateTrainingJobRequest::Decode(encoded).Encode(), encoded);
}

TEST(ProtocolJson, TimestampsKeepMilliseconds) {
  sagemaker::DescribeTrainingJobResponse response;
  response.creation_time = FromUnixMillis(1529870369986);
  const json::object encoded = response.Encode();
  auto parsed = ParseJsonObject(json::serialize(encoded));
  ASSERT_TRUE(parsed);
  EXPECT_DOUBLE_EQ(GetDouble(*parsed, "CreationTime"), 1529870369.986);
  EXPECT_EQ(sagemaker::DescribeTrainingJobResponse::Decode(*parsed).creation_time,
            response.creation_time);
}

TEST(Codec, NumbersThatJsonLacksAreTexts) {
  cloudwatch::MetricDatum datum;
  datum.value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(datum.Encode().at("Value"), "Infinity");
  datum.value = std::nan("");
  EXPECT_EQ(datum.Encode().at("Value"), "NaN");
  EXPECT_TRUE(std::isnan(*cloudwatch::MetricDatum::Decode(datum.Encode()).value));
}

TEST(Codec, ForeignTypesLeaveMembersUnset) {
  const auto hostile = ParseJsonObject(
      R"({"TrainingJobName":3,"HyperParameters":[],"InputDataConfig":{"a":1},"StoppingCondition":"x",
          "EnableManagedSpotTraining":"true","Tags":[1,{"Key":"k","Value":[]}]})");
  const auto request = sagemaker::CreateTrainingJobRequest::Decode(*hostile);
  EXPECT_FALSE(request.training_job_name);
  EXPECT_FALSE(request.hyper_parameters);
  EXPECT_FALSE(request.input_data_config);
  EXPECT_FALSE(request.stopping_condition);
  EXPECT_FALSE(request.enable_managed_spot_training);
  ASSERT_EQ(request.tags->size(), 1u);
  EXPECT_EQ(request.tags->front().key, "k");
  EXPECT_FALSE(request.tags->front().value);
  std::int32_t small = 0;
  EXPECT_FALSE(codec::ReadValue(json::value(1LL << 40), small));
  std::int64_t large = 0;
  EXPECT_FALSE(codec::ReadValue(json::value(1e19), large));
  EXPECT_FALSE(codec::ReadValue(json::value(1.5), large));
  EXPECT_TRUE(codec::ReadValue(json::value(3.0), large));
  WallTime time;
  EXPECT_FALSE(codec::ReadValue(json::value(1e300), time));
}

}  // namespace
}  // namespace sabia::wire
