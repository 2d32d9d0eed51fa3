#include "model/job_outputs.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

json::object Request(std::string_view path, std::string_view compression) {
  json::object output{{"S3OutputPath", path}};
  if (!compression.empty()) output["CompressionType"] = compression;
  return {{"OutputDataConfig", output}};
}

TEST(JobOutputs, PackedByDefault) {
  const json::object request = Request("s3://bucket/models", "");
  EXPECT_EQ(ModelArtifactsUri(request, "j"), "s3://bucket/models/j/output/model.tar.gz");
  EXPECT_EQ(OutputDataUri(request, "j"), "s3://bucket/models/j/output/output.tar.gz");
}

TEST(JobOutputs, SlashesAtTheEndDoNotDouble) {
  EXPECT_EQ(ModelArtifactsUri(Request("s3://bucket/", "GZIP"), "j"),
            "s3://bucket/j/output/model.tar.gz");
  EXPECT_EQ(ModelArtifactsUri(Request("s3://bucket/a//", ""), "j"),
            "s3://bucket/a/j/output/model.tar.gz");
}

TEST(JobOutputs, UncompressedOutputsArePrefixes) {
  const json::object request = Request("s3://bucket/a", "NONE");
  EXPECT_EQ(ModelArtifactsUri(request, "j"), "s3://bucket/a/j/output/model/");
  EXPECT_EQ(OutputDataUri(request, "j"), "s3://bucket/a/j/output/data/");
}

}  // namespace
}  // namespace sabia::model
