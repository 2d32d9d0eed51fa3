#include "api/tuning_job_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "wire/schema.h"

namespace sabia::api {
namespace {

void Walk(const wire::Shape& shape, const std::string& path, std::vector<std::string>& leaves) {
  if (shape.kind == wire::ShapeKind::kStructure) {
    for (const wire::Member& member : shape.members) {
      Walk(*member.shape,
           path.empty() ? std::string(member.name) : fmt::format("{}.{}", path, member.name),
           leaves);
    }
  } else if (shape.kind == wire::ShapeKind::kList) {
    Walk(*shape.element->shape, path + "[]", leaves);
  } else {
    leaves.push_back(path);
  }
}

// Leaves outside of the definitions, and those of a definition.
struct Leaves {
  std::vector<std::string> request;
  std::vector<std::string> definition;
};

Leaves SchemaLeaves() {
  std::vector<std::string> all;
  Walk(*wire::FindService("sagemaker")->FindOperation("CreateHyperParameterTuningJob")->input, "",
       all);
  Leaves out;
  for (const std::string& leaf : all) {
    constexpr std::string_view kOne = "TrainingJobDefinition.";
    if (leaf.starts_with(kOne)) {
      out.definition.push_back(leaf.substr(kOne.size()));
    } else if (!leaf.starts_with("TrainingJobDefinitions[]")) {
      out.request.push_back(leaf);
    }
  }
  return out;
}

bool Covers(const FieldRule& rule, const std::string& leaf) {
  if (rule.path == leaf) return true;
  const bool refusal =
      rule.treatment == Treatment::kRefused || rule.treatment == Treatment::kRefusedIfSet;
  return refusal && leaf.starts_with(rule.path) &&
         (leaf[rule.path.size()] == '.' || leaf[rule.path.size()] == '[');
}

int Rows(std::span<const FieldRule> rules, const std::string& leaf) {
  return static_cast<int>(
      std::ranges::count_if(rules, [&](const FieldRule& rule) { return Covers(rule, leaf); }));
}

// Goal: no member can be accepted and ignored, also not one that a later schema adds.
TEST(TuningJobFields, EveryMemberOfTheSchemaHasARow) {
  const Leaves leaves = SchemaLeaves();
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
  const Leaves leaves = SchemaLeaves();
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
  std::ifstream file(std::string(SABIA_SOURCE_DIR) + "/docs/semantics/tuning-job.md");
  ASSERT_TRUE(file.good());
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(line);
  for (const auto rules : {CreateTuningJobFields(), TuningDefinitionFields()}) {
    for (const FieldRule& rule : rules) {
      const std::string row =
          fmt::format("| `{}` | {} | {} |", rule.path, Name(rule.treatment), rule.note);
      EXPECT_TRUE(lines.contains(row)) << "docs/semantics/tuning-job.md lacks\n" << row;
    }
  }
}

}  // namespace
}  // namespace sabia::api
