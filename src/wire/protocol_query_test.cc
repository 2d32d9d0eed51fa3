#include "wire/protocol_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

using testing::HasSubstr;

AwsResult<json::object> Decode(std::string_view service, std::string_view action,
                               std::string_view body) {
  const ServiceSchema& schema = *FindService(service);
  const Headers headers;
  const QueryParameters query;
  return DecodeRequest({schema, *schema.FindOperation(action), Protocol::kQuery},
                       {headers, query, body, {}});
}

std::string Text(const AwsResult<json::object>& decoded) {
  return decoded ? json::serialize(*decoded)
                 : decoded.error().code + ": " + decoded.error().message;
}

TEST(ProtocolQuery, ReadsListsAndStructures) {
  EXPECT_EQ(Text(Decode(
                "sts", "AssumeRole",
                "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
                "&RoleSessionName=a+b&DurationSeconds=900&Tags.member.2.Key=b&Tags.member.2.Value=2"
                "&Tags.member.1.Key=a&Tags.member.1.Value=1&PolicyArns=")),
            R"({"RoleArn":"arn:aws:iam::1:role/r","RoleSessionName":"a b","PolicyArns":[],)"
            R"("DurationSeconds":900,"Tags":[{"Key":"a","Value":"1"},{"Key":"b","Value":"2"}]})");
  EXPECT_EQ(
      Text(Decode("iam", "SimulatePrincipalPolicy",
                  "PolicySourceArn=a&ActionNames.member.1=s3%3AGetObject&ActionNames.member.10=x"
                  "&ActionNames.member.2=y")),
      R"({"PolicySourceArn":"a","ActionNames":["s3:GetObject","y","x"]})");
}

TEST(ProtocolQuery, ReadsNumbersAndTimestamps) {
  EXPECT_EQ(
      Text(Decode("cloudwatch", "PutMetricData",
                  "Namespace=n&MetricData.member.1.MetricName=loss&MetricData.member.1.Value=0.5"
                  "&MetricData.member.1.Timestamp=2024-01-02T03%3A04%3A05Z")),
      R"({"Namespace":"n","MetricData":[{"MetricName":"loss","Timestamp":1.704164645E9,"Value":5E-1}]})");
  EXPECT_EQ(Text(Decode("cloudwatch", "PutMetricData", "MetricData.member.1.Value=NaN")),
            R"({"MetricData":[{"Value":"NaN"}]})");
}

TEST(ProtocolQuery, ReadsTheUrlWhenThereIsNoBody) {
  const ServiceSchema& sts = *FindService("sts");
  const auto query = QueryParameters::Parse(
      "Action=GetSessionToken&Version=2011-06-15&DurationSeconds=900&X-Amz-Signature=0");
  const Headers headers;
  EXPECT_EQ(QueryAction("", *query), "GetSessionToken");
  EXPECT_EQ(QueryAction("Action=A", *query), "A");
  const auto decoded = DecodeRequest({sts, *sts.FindOperation("GetSessionToken"), Protocol::kQuery},
                                     {headers, *query, "", {}});
  EXPECT_EQ(Text(decoded), R"({"DurationSeconds":900})");
}

TEST(ProtocolQuery, MalformedFormsAreRefusedByName) {
  const auto refusal = [](std::string_view body) {
    return Text(Decode("sts", "AssumeRole", body));
  };
  EXPECT_EQ(refusal("Rolearn=x"), "MalformedInput: AssumeRoleRequest has no parameter 'Rolearn'");
  EXPECT_THAT(refusal("DurationSeconds=9e2"), HasSubstr("'9e2' is not an integer"));
  EXPECT_THAT(refusal("RoleArn.x=1"), HasSubstr("'RoleArn' is not a single value"));
  EXPECT_THAT(refusal("Tags=1"), HasSubstr("'Tags' is a single value"));
  EXPECT_THAT(refusal("Tags.member.x.Key=1"), HasSubstr("'Tags.x' has no valid index"));
  EXPECT_THAT(refusal("Tags.member.-1.Key=1"), HasSubstr("no valid index"));
  EXPECT_THAT(refusal("Tags.member.1.Key=1&Tags.member.01.Key=1"), HasSubstr("no valid index"));
  EXPECT_THAT(refusal("Tags.members.1.Key=1"), HasSubstr("'Tags.members' is not expected"));
  EXPECT_THAT(refusal("Tags.member=1"), HasSubstr("has no index"));
  EXPECT_THAT(refusal("RoleArn=a&RoleArn=b"), HasSubstr("occurs twice"));
  EXPECT_THAT(refusal("RoleArn=%ff"), HasSubstr("the value is not UTF-8"));
  EXPECT_THAT(refusal("RoleArn=%zz"), HasSubstr("MalformedInput"));
}

TEST(ProtocolQuery, HostileFormsAreBounded) {
  std::string deep = "A";
  for (int i = 0; i < 100'000; ++i) deep += ".1";
  EXPECT_THAT(Text(Decode("sts", "AssumeRole", deep + "=x")), HasSubstr("too many parts"));
  std::string wide;
  for (int i = 0; i < 20'000; ++i) wide += fmt::format("Tags.member.{}.Key=k&", i);
  EXPECT_THAT(Text(Decode("sts", "AssumeRole", wide)), HasSubstr("too many parameters"));
}

TEST(ProtocolQuery, SuccessIsWrapped) {
  const ServiceSchema& sts = *FindService("sts");
  const Call call{sts, *sts.FindOperation("GetCallerIdentity"), Protocol::kQuery};
  const Response response =
      EncodeSuccess(call, {{"Account", "1"}, {"Arn", "a<b"}, {"UserId", nullptr}}, "r-1");
  EXPECT_EQ(response.headers.Get("Content-Type"), "text/xml");
  EXPECT_EQ(
      response.body,
      "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
      "<GetCallerIdentityResult><Account>1</Account><Arn>a&lt;b</Arn></GetCallerIdentityResult>"
      "<ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></"
      "GetCallerIdentityResponse>");
}

TEST(ProtocolQuery, ListsAndTimesInAnswers) {
  const ServiceSchema& cloudwatch = *FindService("cloudwatch");
  const Call call{cloudwatch, *cloudwatch.FindOperation("GetMetricStatistics"), Protocol::kQuery};
  const json::object output{
      {"Label", "l"},
      {"Datapoints", json::array{json::object{{"Timestamp", 1704164645}, {"Sum", 1.5}}}}};
  EXPECT_THAT(
      EncodeSuccess(call, output, "r").body,
      HasSubstr("<Datapoints><member><Timestamp>2024-01-02T03:04:05.000Z</Timestamp><Sum>1.5</Sum>"
                "</member></Datapoints>"));
}

TEST(ProtocolQuery, ErrorsHaveTheServicesSpelling) {
  const ServiceSchema& iam = *FindService("iam");
  const auto body = [&](const AwsError& error) {
    return EncodeError(iam, Protocol::kQuery, error, "r").body;
  };
  EXPECT_EQ(
      body({"NoSuchEntityException", 404, "The role with name x cannot be found.", {}}),
      "<ErrorResponse "
      "xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><Error><Type>Sender</Type>"
      "<Code>NoSuchEntity</Code><Message>The role with name x cannot be found.</Message></Error>"
      "<RequestId>r</RequestId></ErrorResponse>");
  EXPECT_THAT(body({"ValidationException", 400, "m", {}}),
              HasSubstr("<Code>ValidationError</Code>"));
  EXPECT_THAT(body({"UnknownOperationException", 400, "m", {}}),
              HasSubstr("<Code>InvalidAction</Code>"));
  EXPECT_THAT(body({"InternalFailure", 500, "m", {}}), HasSubstr("<Type>Receiver</Type>"));
}

}  // namespace
}  // namespace sabia::wire
