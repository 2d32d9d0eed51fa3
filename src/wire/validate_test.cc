// Goal: every constraint kind, at any depth, is worded as AWS words it.
// Method: the real SageMaker schema where a text of the live service is known, small schemas for
// the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/schema.h"

namespace sabia::wire {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Verdict(const Shape& shape, std::string_view text) {
  auto input = ParseJsonObject(text);
  if (!input) return "test input: " + input.error().message;
  const auto checked = Validate(shape, *input);
  return checked ? std::string("ok") : checked.error().code + ": " + checked.error().message;
}

std::string SageMaker(std::string_view shape, std::string_view text) {
  return Verdict(*FindService("sagemaker")->FindShape(shape), text);
}

// A schema of one structure "In" with one member "Thing" of the given shape, and what else it
// needs.
std::string Small(std::string_view shape, std::string_view input, std::string_view more = "") {
  const std::string document = fmt::format(
      R"({{"service":"t","metadata":{{"protocols":["json-1.1"]}},"operations":{{}},"shapes":{{
      "In":{{"type":"structure","members":{{"Thing":"T"}}}},"T":{},"Text":{{"type":"string"}},
      "Short":{{"type":"string","max":3,"min":1,"pattern":"[a-z]*"}}{}}}}})",
      shape, more);
  auto schema = LoadServiceSchema(document);
  if (!schema) return schema.error().message;
  return Verdict(*(*schema)->FindShape("In"), input);
}

constexpr std::string_view kOne = "ValidationException: 1 validation error detected: ";

TEST(Validate, AcceptsAGoodRequest) {
  EXPECT_EQ(SageMaker("ListTrainingJobsRequest",
                      R"({"MaxResults":10,"SortBy":"Name","CreationTimeAfter":1529870369.986})"),
            "ok");
  EXPECT_EQ(SageMaker("ListTrainingJobsRequest", R"({"MaxResults":null})"), "ok");
}

TEST(Validate, MissingMembersAreNull) {
  EXPECT_EQ(SageMaker("DescribeTrainingJobRequest", "{}"),
            std::string(kOne) +
                "Value null at 'trainingJobName' failed to satisfy constraint: "
                "Member must not be null");
  EXPECT_EQ(
      SageMaker("AddTagsInput", R"({"Tags":null})"),
      "ValidationException: 2 validation errors detected: Value null at 'resourceArn' failed to "
      "satisfy constraint: Member must not be null; Value null at 'tags' failed to satisfy "
      "constraint: Member must not be null");
}

TEST(Validate, LengthComesBeforePattern) {
  const std::string name = std::string(64, 'a') + "_";
  EXPECT_EQ(
      SageMaker("DescribeModelInput", R"({"ModelName":")" + name + R"("})"),
      "ValidationException: 2 validation errors detected: Value '" + name +
          "' at 'modelName' failed to satisfy constraint: Member must have length less than or "
          "equal to 63; Value '" +
          name +
          "' at 'modelName' failed to satisfy constraint: Member must satisfy regular "
          "expression pattern: " +
          std::string(FindService("sagemaker")->FindShape("ModelName")->pattern->text()));
}

TEST(Validate, PathsReachIntoListsOfStructures) {
  EXPECT_THAT(SageMaker("CreateProcessingJobRequest", R"({"ProcessingJobName":"p","RoleArn":
        "arn:aws:iam::123456789012:role/abc","AppSpecification":{"ImageUri":"i"},
        "ProcessingResources":{"ClusterConfig":{"InstanceCount":1,"InstanceType":"ml.m5.large",
        "VolumeSizeInGB":1}},"ProcessingInputs":[{"InputName":"a"},{"InputName":"b","S3Input":
        {"S3Uri":"s3://b/k","S3DataType":"S3Prefix","S3InputMode":"Stream"}}]})"),
              std::string(kOne) +
                  "Value 'Stream' at 'processingInputs.2.member.s3Input.s3InputMode' failed to "
                  "satisfy constraint: Member must satisfy enum value set: [Pipe, File]");
}

TEST(Validate, NumbersHaveBounds) {
  EXPECT_EQ(SageMaker("ListTrainingJobsRequest", R"({"MaxResults":101})"),
            std::string(kOne) +
                "Value '101' at 'maxResults' failed to satisfy constraint: Member "
                "must have value less than or equal to 100");
  EXPECT_THAT(SageMaker("ListTrainingJobsRequest", R"({"MaxResults":0})"),
              EndsWith("Member must have value greater than or equal to 1"));
}

TEST(Validate, ListsAndMapsOfScalarsAreQuotedWhole) {
  EXPECT_EQ(
      SageMaker("VpcConfig", R"({"SecurityGroupIds":["sg-1","s g"],"Subnets":["s-1"]})"),
      std::string(kOne) +
          "Value '[sg-1, s g]' at 'securityGroupIds' failed to satisfy constraint: Member must "
          "satisfy constraint: [Member must have length less than or equal to 32, Member must "
          "have length greater than or equal to 0, Member must satisfy regular expression "
          "pattern: [-0-9a-zA-Z]+]");
  EXPECT_EQ(
      Small(R"({"type":"map","key":"Text","value":"Short"})", R"({"Thing":{"k":"abcd","l":"a"}})"),
      std::string(kOne) +
          "Value '{k=abcd, l=a}' at 'thing' failed to satisfy constraint: Map value must satisfy "
          "constraint: [Member must have length less than or equal to 3, Member must have length "
          "greater than or equal to 1, Member must satisfy regular expression pattern: [a-z]*]");
  EXPECT_THAT(
      Small(R"({"type":"map","key":"Short","value":"Text"})", R"({"Thing":{"KEY":"v"}})"),
      HasSubstr("at 'thing' failed to satisfy constraint: Map keys must satisfy constraint: ["));
}

TEST(Validate, AggregatesHaveLengths) {
  EXPECT_EQ(Small(R"({"type":"list","member":"Text","min":2})", R"({"Thing":["x"]})"),
            std::string(kOne) +
                "Value '[x]' at 'thing' failed to satisfy constraint: Member must have "
                "length greater than or equal to 2");
  EXPECT_THAT(Small(R"({"type":"map","key":"Text","value":"Text","max":1})",
                    R"({"Thing":{"a":"1","b":"2"}})"),
              HasSubstr("Value '{a=1, b=2}' at 'thing'"));
  EXPECT_THAT(
      Small(R"({"type":"list","member":"S","max":1})", R"({"Thing":[{},{}]})",
            R"(,"S":{"type":"structure","members":{}})"),
      HasSubstr(": Value at 'thing' failed to satisfy constraint: Member must have length less"));
  EXPECT_EQ(Small(R"({"type":"list","member":"Text"})", R"({"Thing":["x",null]})"),
            std::string(kOne) +
                "Value null at 'thing.2.member' failed to satisfy constraint: Member "
                "must not be null");
}

TEST(Validate, MapsOfStructuresNameTheKey) {
  EXPECT_EQ(Small(R"({"type":"map","key":"Text","value":"S"})", R"({"Thing":{"one":{}}})",
                  R"(,"S":{"type":"structure","required":["A"],"members":{"A":"Text"}})"),
            std::string(kOne) +
                "Value null at 'thing.one.member.a' failed to satisfy constraint: Member "
                "must not be null");
}

TEST(Validate, LengthCountsCharactersNotBytes) {
  EXPECT_EQ(Small(R"({"type":"string","max":3})", R"({"Thing":"äöü"})"), "ok");
  EXPECT_THAT(
      Small(R"({"type":"string","max":3})", R"({"Thing":"äöüß"})"),
      HasSubstr("Value 'äöüß' at 'thing' failed to satisfy constraint: Member must have length"));
  EXPECT_EQ(Small(R"({"type":"blob","max":3})", R"({"Thing":"YWJj"})"), "ok");
  EXPECT_EQ(Small(R"({"type":"blob","max":3})", R"({"Thing":"YWJjZA=="})"),
            std::string(kOne) +
                "Value at 'thing' failed to satisfy constraint: Member must have length "
                "less than or equal to 3");
}

TEST(Validate, SecretsAreNotQuoted) {
  const std::string said =
      Small(R"({"type":"string","sensitive":true,"max":3})", R"({"Thing":"hunter2"})");
  EXPECT_THAT(said, StartsWith(std::string(kOne) + "Value at 'thing' failed"));
  EXPECT_THAT(said, Not(HasSubstr("hunter2")));
  EXPECT_THAT(Small(R"({"type":"list","member":"P","max":0})", R"({"Thing":["hunter2"]})",
                    R"(,"P":{"type":"string","sensitive":true})"),
              Not(HasSubstr("hunter2")));
}

TEST(Validate, UnionsHaveExactlyOneMember) {
  constexpr std::string_view kUnion =
      R"({"type":"structure","union":true,"members":{"A":"Text","B":"Text"}})";
  EXPECT_EQ(Small(kUnion, R"({"Thing":{"A":"x"}})"), "ok");
  EXPECT_EQ(Small(kUnion, R"({"Thing":{"A":"x","B":null}})"), "ok");
  EXPECT_EQ(Small(kUnion, R"({"Thing":{}})"),
            std::string(kOne) +
                "Value at 'thing' failed to satisfy constraint: Member must have "
                "exactly one member set of [A, B]; 0 are set");
  EXPECT_THAT(Small(kUnion, R"({"Thing":{"A":"x","B":"y"}})"), EndsWith("2 are set"));
}

TEST(Validate, UnknownMembersAreRefusedByName) {
  EXPECT_EQ(SageMaker("ListTrainingJobsRequest", R"({"Maxresults":3})"),
            std::string(kOne) +
                "Value at 'maxresults' failed to satisfy constraint: "
                "ListTrainingJobsRequest has no member named 'Maxresults'");
}

TEST(Validate, WrongTypesAreSerializationExceptions) {
  EXPECT_EQ(
      SageMaker("ListTrainingJobsRequest", R"({"MaxResults":"10"})"),
      "SerializationException: STRING_VALUE can not be converted to an Integer at 'maxResults'");
  EXPECT_EQ(
      SageMaker("ListTrainingJobsRequest", R"({"NameContains":7})"),
      "SerializationException: NUMBER_VALUE can not be converted to a String at 'nameContains'");
  EXPECT_EQ(SageMaker("ListTrainingJobsRequest", R"({"NameContains":{}})"),
            "SerializationException: Start of structure or map found where not expected at "
            "'nameContains'");
  EXPECT_THAT(SageMaker("AddTagsInput", R"({"Tags":[{"Key":true}]})"),
              EndsWith("TRUE_VALUE can not be converted to a String at 'tags.1.member.key'"));
  EXPECT_THAT(Small(R"({"type":"blob"})", R"({"Thing":"%%"})"), HasSubstr("a Blob"));
}

TEST(Validate, NumbersHaveTypes) {
  EXPECT_EQ(Small(R"({"type":"integer"})", R"({"Thing":2147483647})"), "ok");
  EXPECT_EQ(Small(R"({"type":"integer"})", R"({"Thing":3.0})"), "ok");
  EXPECT_THAT(Small(R"({"type":"integer"})", R"({"Thing":2147483648})"), HasSubstr("an Integer"));
  EXPECT_THAT(Small(R"({"type":"integer"})", R"({"Thing":1.5})"), HasSubstr("an Integer"));
  EXPECT_EQ(Small(R"({"type":"long"})", R"({"Thing":9223372036854775807})"), "ok");
  EXPECT_THAT(Small(R"({"type":"long"})", R"({"Thing":9223372036854775808})"), HasSubstr("a Long"));
  EXPECT_THAT(Small(R"({"type":"long"})", R"({"Thing":1e300})"), HasSubstr("a Long"));
  EXPECT_EQ(Small(R"({"type":"double"})", R"({"Thing":"-Infinity"})"), "ok");
  EXPECT_EQ(Small(R"({"type":"double"})", R"({"Thing":"NaN"})"), "ok");
  EXPECT_THAT(Small(R"({"type":"double"})", R"({"Thing":"nan"})"), HasSubstr("a Double"));
}

TEST(Validate, TimestampsAreNumbersUnlessTheShapeSaysOtherwise) {
  EXPECT_EQ(Small(R"({"type":"timestamp"})", R"({"Thing":1529870369.986})"), "ok");
  EXPECT_THAT(Small(R"({"type":"timestamp"})", R"({"Thing":"2024-01-02T03:04:05Z"})"),
              HasSubstr("STRING_VALUE can not be converted to a Timestamp"));
  EXPECT_EQ(Small(R"({"type":"timestamp","timestampFormat":"iso8601"})",
                  R"({"Thing":"2024-01-02T03:04:05Z"})"),
            "ok");
  EXPECT_THAT(Small(R"({"type":"timestamp"})", R"({"Thing":1e300})"), HasSubstr("a Timestamp"));
}

TEST(Validate, HostileRequestsGetBoundedAnswers) {
  std::string many = R"({"ResourceArn":"a","Tags":[)";
  for (int i = 0; i < 20000; ++i) many += "{},";
  many += "{}]}";
  const std::string said = SageMaker("AddTagsInput", many);
  EXPECT_THAT(said, HasSubstr("validation errors detected"));
  EXPECT_THAT(said, EndsWith("more"));
  EXPECT_LT(said.size(), 20000u);
  const std::string huge(1 << 20, 'x');
  EXPECT_LT(SageMaker("ListTrainingJobsRequest", R"({"NameContains":")" + huge + R"("})").size(),
            4096u);
  EXPECT_LT(SageMaker("ListTrainingJobsRequest", R"({")" + huge + R"(":1})").size(), 4096u);
}

// "(a+)+b"-like patterns are quadratic or worse without a step limit.
TEST(Validate, HostileTextsDoNotHangThePattern) {
  const Pattern pattern("(a|a|aa)+(b|(a+)+)+c");
  EXPECT_FALSE(pattern.Matches(std::string(100'000, 'a')));
  const Pattern lines(".*(?:[ \\r\\n\\t].*)*");
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "a line of text\n";
  EXPECT_TRUE(lines.Matches(text));
}

TEST(Pattern, MatchesTheWholeSubject) {
  const Pattern pattern("^[a-z]+$");
  EXPECT_TRUE(pattern.Matches("abc"));
  EXPECT_FALSE(pattern.Matches("abc\n"));
  EXPECT_FALSE(pattern.Matches("abc1"));
  EXPECT_FALSE(pattern.Matches(""));
  EXPECT_FALSE(pattern.Matches("\xff"));
  EXPECT_TRUE(Pattern("a|ab").Matches("ab"));
}

TEST(Pattern, JavaSpellingsAreTranslated) {
  EXPECT_EQ(TranslatePattern(R"(\u002F[\u0021-\u007F]*)"), R"(\x{2F}[\x{21}-\x{7F}]*)");
  EXPECT_EQ(TranslatePattern(R"([\uD800\uDC00-\uDBFF\uDFFF])"), R"([\x{10000}-\x{10FFFF}])");
  EXPECT_EQ(TranslatePattern(R"([\p{Alnum}\-]+)"), R"([a-zA-Z0-9\-]+)");
  EXPECT_EQ(TranslatePattern(R"(\p{ASCII}*)"), R"([\x00-\x7F]*)");
  EXPECT_EQ(TranslatePattern(R"([\w-_]*)"), R"([\w\-_]*)");
  EXPECT_EQ(TranslatePattern(R"([\p{L}\p{Z}-_]*-\p{N}-)"), R"([\p{L}\p{Z}\-_]*-\p{N}-)");
  EXPECT_EQ(TranslatePattern(R"((x)${1,256})"), R"((x)$)");
  EXPECT_EQ(TranslatePattern(R"(\$x{2}\\u0041)"), R"(\$x{2}\\u0041)");
}

}  // namespace
}  // namespace sabia::wire
