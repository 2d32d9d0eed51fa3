#include "wire/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Schema, KnowsEverySageMakerAction) {
  const ServiceSchema* sagemaker = FindService("sagemaker");
  ASSERT_NE(sagemaker, nullptr);
  EXPECT_EQ(sagemaker->operations.size(), 396u);
  EXPECT_EQ(sagemaker->target_prefix, "SageMaker");
  EXPECT_EQ(sagemaker->api_version, "2017-07-24");
  EXPECT_THAT(sagemaker->protocols, ElementsAre(Protocol::kJson11));
  for (const Operation& operation : sagemaker->operations) {
    ASSERT_NE(operation.input, nullptr) << operation.name;
    EXPECT_EQ(sagemaker->FindOperation(operation.name), &operation);
  }
}

TEST(Schema, EveryServiceLoads) {
  EXPECT_THAT(ServiceNames(),
              ElementsAre("ce", "cloudwatch", "iam", "logs", "s3", "sagemaker-metrics",
                          "sagemaker-runtime", "sagemaker", "sts"));
  for (const std::string& name : ServiceNames()) {
    const ServiceSchema* schema = FindService(name);
    ASSERT_NE(schema, nullptr) << name;
    EXPECT_EQ(schema, FindService(name)) << "loaded twice";
    EXPECT_EQ(schema->name, name);
    EXPECT_FALSE(schema->protocols.empty());
  }
  EXPECT_EQ(FindService("ec2"), nullptr);
}

TEST(Schema, KeepsTheFactsOfShapes) {
  const Shape* request = FindService("sagemaker")->FindShape("CreateTrainingJobRequest");
  ASSERT_NE(request, nullptr);
  const Member* name = request->FindMember("TrainingJobName");
  ASSERT_NE(name, nullptr);
  EXPECT_TRUE(name->required);
  EXPECT_EQ(name->shape->max, 63);
  ASSERT_NE(name->shape->pattern, nullptr);
  EXPECT_EQ(request->FindMember("trainingJobName"), nullptr);
  EXPECT_EQ(request->members.front().name, "TrainingJobName");
  const Member* channels = request->FindMember("InputDataConfig");
  ASSERT_NE(channels->shape->element, nullptr);
  EXPECT_EQ(channels->shape->element->shape->name, "Channel");
}

TEST(Schema, KeepsBindingsOfRestServices) {
  const ServiceSchema* s3 = FindService("s3");
  const Shape* put = s3->FindShape("PutObjectRequest");
  EXPECT_EQ(put->payload, "Body");
  EXPECT_TRUE(put->FindMember("Body")->streaming);
  EXPECT_EQ(put->FindMember("Metadata")->location, Location::kHeaders);
  EXPECT_EQ(put->FindMember("Metadata")->location_name, "x-amz-meta-");
  EXPECT_EQ(s3->FindOperation("DeleteObject")->success_status, 204u);
  EXPECT_EQ(s3->FindException("NoSuchKey")->error_status, 404u);
  EXPECT_EQ(s3->xml_namespace, "http://s3.amazonaws.com/doc/2006-03-01/");
  const Shape* missing = FindService("cloudwatch")->FindException("ResourceNotFoundException");
  ASSERT_NE(missing, nullptr);
  EXPECT_TRUE(FindService("cloudwatch")->query_compatible);
}

TEST(Schema, EveryPatternCompiles) {
  for (const std::string& name : ServiceNames()) {
    for (const Pattern& pattern : FindService(name)->patterns) {
      EXPECT_EQ(pattern.CompileError(), "") << name << ": " << pattern.text();
    }
  }
}

TEST(Schema, DamagedDocumentsAreRefused) {
  const auto refusal = [](std::string_view text) {
    auto loaded = LoadServiceSchema(text);
    return loaded ? std::string("loaded") : loaded.error().message;
  };
  EXPECT_THAT(refusal("{"), HasSubstr("failed to parse"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("missing"));
  EXPECT_THAT(refusal(R"({"metadata":{"protocols":["soap"]},"operations":{},"shapes":{}})"),
              HasSubstr("unknown protocol \"soap\""));
  EXPECT_THAT(
      refusal(R"({"metadata":{"protocols":[]},"operations":{},"shapes":{"A":{"type":"set"}}})"),
      HasSubstr("bad shape 'A': unknown type 'set'"));
  EXPECT_THAT(refusal(R"({"metadata":{"protocols":[]},"operations":{},
                          "shapes":{"A":{"type":"structure","members":{"X":"B"}}}})"),
              HasSubstr("no shape 'B'"));
  EXPECT_THAT(
      refusal(R"({"metadata":{"protocols":[]},"operations":{},"shapes":{"A":{"type":"list"}}})"),
      HasSubstr("a list without an element"));
}

}  // namespace
}  // namespace sabia::wire
