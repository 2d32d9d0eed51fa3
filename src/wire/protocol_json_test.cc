#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sabia::wire
