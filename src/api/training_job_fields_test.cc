#include "api/training_job_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/testing/field_rows.h"

namespace sabia::api {
namespace {

// Goal: no member of CreateTrainingJob can be accepted and ignored, also not one that a later
// schema adds.
TEST(TrainingJobFields, EveryMemberOfTheSchemaHasARow) {
  for (const std::string& leaf : SchemaLeaves("CreateTrainingJob")) {
    int rows = 0;
    for (const FieldRule& rule : CreateTrainingJobFields()) rows += Covers(rule, leaf) ? 1 : 0;
    EXPECT_EQ(rows, 1) << leaf << " has " << rows << " rows";
  }
}

TEST(TrainingJobFields, EveryRowNamesAMemberOfTheSchema) {
  const std::vector<std::string> leaves = SchemaLeaves("CreateTrainingJob");
  for (const FieldRule& rule : CreateTrainingJobFields()) {
    const bool known = std::any_of(leaves.begin(), leaves.end(),
                                   [&](const std::string& leaf) { return Covers(rule, leaf); });
    EXPECT_TRUE(known) << rule.path;
    EXPECT_FALSE(rule.note.empty()) << rule.path;
  }
}

// Goal: the document cannot drift from the code.
TEST(TrainingJobFields, TheDocumentPrintsTheSameRows) {
  const auto lines = LinesOf(std::string(SABIA_SOURCE_DIR) + "/docs/semantics/training-job.md");
  for (const FieldRule& rule : CreateTrainingJobFields()) {
    EXPECT_TRUE(lines.contains(RowOf(rule))) << "docs/semantics/training-job.md lacks\n"
                                             << RowOf(rule);
  }
}

std::string Refused(std::string_view text) {
  const auto checked = RefuseUnsupportedFields(CreateTrainingJobFields(), *ParseJsonObject(text));
  return checked ? "" : checked.error().message;
}

TEST(TrainingJobFields, RefusalNamesTheMemberWithItsIndex) {
  EXPECT_TRUE(
      Refused(R"({"InputDataConfig":[{"DataSource":{"S3DataSource":{}}},
                          {"DataSource":{"FileSystemDataSource":
                             {"FileSystemId":"fs-12345678"}}}]})")
          .starts_with("InputDataConfig[2].DataSource.FileSystemDataSource is not supported: "));
  EXPECT_TRUE(
      Refused(R"({"ServerlessJobConfig":{}})").starts_with("ServerlessJobConfig is not supported"));
}

TEST(TrainingJobFields, ValuesThatSayNothingAreAccepted) {
  EXPECT_EQ(Refused(R"({"RemoteDebugConfig":{"EnableRemoteDebug":false},
                        "ResourceConfig":{"KeepAlivePeriodInSeconds":60},
                        "DebugRuleConfigurations":[],"ProfilerRuleConfigurations":[]})"),
            "");
  EXPECT_TRUE(Refused(R"({"RemoteDebugConfig":{"EnableRemoteDebug":true}})")
                  .starts_with("RemoteDebugConfig.EnableRemoteDebug is not supported"));
}

TEST(TrainingJobFields, EachRefusedMemberIsRefused) {
  for (const FieldRule& rule : CreateTrainingJobFields()) {
    if (!IsRefusal(rule)) continue;
    // Builds {"A":[{"B":1}]} from "A[].B", inside out.
    json::value value = 1;
    std::string path(rule.path);
    while (!path.empty()) {
      const std::size_t dot = path.rfind('.');
      std::string step = dot == std::string::npos ? path : path.substr(dot + 1);
      path = dot == std::string::npos ? "" : path.substr(0, dot);
      if (step.ends_with("[]")) {
        step.resize(step.size() - 2);
        value = json::array{value};
      }
      value = json::object{{step, value}};
    }
    EXPECT_FALSE(RefuseUnsupportedFields(CreateTrainingJobFields(), value.get_object()).has_value())
        << rule.path;
  }
}

}  // namespace
}  // namespace sabia::api
