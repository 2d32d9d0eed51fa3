#include "model/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::model {
namespace {

using ::testing::HasSubstr;

json::object Request(std::string_view image) {
  return {{"AlgorithmSpecification", {{"TrainingImage", image}}}};
}

TEST(Images, AreKnownByRepositoryInAnyRegistry) {
  const struct {
    std::string_view uri;
    ImageKind kind;
  } kCases[] = {
      {"246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1", ImageKind::kXgboost},
      {"sagemaker-xgboost:1.5-1", ImageKind::kXgboost},
      {"811284229777.dkr.ecr.us-east-1.amazonaws.com/xgboost:1", ImageKind::kXgboost},
      {"811284229777.dkr.ecr.us-east-1.amazonaws.com/xgboost:latest", ImageKind::kXgboost},
      {"811284229777.dkr.ecr.us-east-1.amazonaws.com/xgboost", ImageKind::kXgboost},
      {"763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-gpu-py310",
       ImageKind::kPython},
      {"246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3",
       ImageKind::kPython},
      {"localhost:5000/tensorflow-training:2.13", ImageKind::kPython},
      {"sabia/python:3.11", ImageKind::kPython},
      {"sabia/python@sha256:0123", ImageKind::kPython},
  };
  for (const auto& [uri, kind] : kCases) {
    const auto resolved = ResolveTrainingImage(Request(uri));
    ASSERT_TRUE(resolved) << uri << ": " << resolved.error().message;
    EXPECT_EQ(*resolved, kind) << uri;
  }
}

TEST(Images, ThatAreUnknownAreRefusedWithTheListAndTheWayOut) {
  for (const std::string_view uri :
       {"1.dkr.ecr.us-east-1.amazonaws.com/linear-learner:1", "xgboost:0.9", "", ":", "a b",
        "x/sabia/python:3", "sagemaker-xgboost:"}) {
    const auto refused = ResolveTrainingImage(Request(uri));
    ASSERT_FALSE(refused) << uri;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("*/sagemaker-xgboost:*, */xgboost:1|latest"));
    EXPECT_THAT(refused.error().message, HasSubstr("ContainerEntrypoint"));
  }
}

TEST(Images, WithAScriptRunTheScript) {
  json::object request = Request("sagemaker-xgboost:1.7-1");
  request["HyperParameters"] = {{"sagemaker_program", "train.py"}};
  EXPECT_EQ(ResolveTrainingImage(request), ImageKind::kPython);
}

TEST(Images, WithAnEntrypointRunThat) {
  json::object request = Request("mine:1");
  request["AlgorithmSpecification"].get_object()["ContainerEntrypoint"] = {"/bin/true"};
  EXPECT_EQ(ResolveTrainingImage(request), ImageKind::kEntrypoint);
}

}  // namespace
}  // namespace sabia::model
