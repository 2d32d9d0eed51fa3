#include "api/tuning_job_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/testing/field_rows.h"

namespace sabia::api {
namespace {

// Leaves outside of the definitions, and those of a definition.
struct Leaves {
  std::vector<std::string> request;
  std::vector<std::string> definition;
};

Leaves TuningLeaves() {
  Leaves out;
  for (const std::string& leaf : SchemaLeaves("CreateHyperParameterTuningJob")) {
    constexpr std::string_view kOne = "TrainingJobDefinition.";
    if (leaf.starts_with(kOne)) {
      out.definition.push_back(leaf.substr(kOne.size()));
    } else if (!leaf.starts_with("TrainingJobDefinitions[]")) {
      out.request.push_back(leaf);
    }
  }
  return out;
}

int Rows(std::span<const FieldRule> rules, const std::string& leaf) {
  return static_cast<int>(
      std::ranges::count_if(rules, [&](const FieldRule& rule) { return Covers(rule, leaf); }));
}

// Goal: no member can be accepted and ignored, also not one that a later schema adds.
TEST(TuningJobFields, EveryMemberOfTheSchemaHasARow) {
  const Leaves leaves = TuningLeaves();
  ASSERT_GT(leaves.request.size(), 20u);
  ASSERT_GT(leaves.definition.size(), 40u);
  for (const std::string& leaf : leaves.request) {
    EXPECT_EQ(Rows(CreateTuningJobFields(), leaf), 1) << leaf;
  }
  for (const std::string& leaf : leaves.definition) {
    EXPECT_EQ(Rows(TuningDefinitionFields(), leaf) + Rows(CreateTrainingJobFields(), leaf), 1)
        << leaf;
  }
}

TEST(TuningJobFields, EveryRowNamesAMemberOfTheSchema) {
  const Leaves leaves = TuningLeaves();
  const auto check = [](std::span<const FieldRule> rules, const std::vector<std::string>& known) {
    for (const FieldRule& rule : rules) {
      EXPECT_TRUE(std::ranges::any_of(known, [&](const std::string& leaf) {
        return Covers(rule, leaf);
      })) << rule.path;
      EXPECT_FALSE(rule.note.empty()) << rule.path;
    }
  };
  check(CreateTuningJobFields(), leaves.request);
  check(TuningDefinitionFields(), leaves.definition);
}

// Goal: the document cannot drift from the code.
TEST(TuningJobFields, TheDocumentPrintsTheSameRows) {
  const auto lines = LinesOf(std::string(SABIA_SOURCE_DIR) + "/docs/semantics/tuning-job.md");
  for (const auto rules : {CreateTuningJobFields(), TuningDefinitionFields()}) {
    for (const FieldRule& rule : rules) {
      EXPECT_TRUE(lines.contains(RowOf(rule))) << "docs/semantics/tuning-job.md lacks\n"
                                               << RowOf(rule);
    }
  }
}

}  // namespace
}  // namespace sabia::api
