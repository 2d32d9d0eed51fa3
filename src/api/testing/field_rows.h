// What tests of field tables compare them with: the members of a request that the schema knows, and
// the rows of a document. For tests.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "api/training_job_fields.h"
#include "base/check.h"
#include "wire/schema.h"

namespace sabia::api {

inline void AddLeaves(const wire::Shape& shape, const std::string& path,
                      std::vector<std::string>& leaves) {
  if (shape.kind == wire::ShapeKind::kStructure) {
    for (const wire::Member& member : shape.members) {
      AddLeaves(*member.shape,
                path.empty() ? std::string(member.name) : fmt::format("{}.{}", path, member.name),
                leaves);
    }
  } else if (shape.kind == wire::ShapeKind::kList) {
    AddLeaves(*shape.element->shape, path + "[]", leaves);
  } else {
    leaves.push_back(path);
  }
}

// "InputDataConfig[].ChannelName", … of a SageMaker action's request.
inline std::vector<std::string> SchemaLeaves(std::string_view action) {
  std::vector<std::string> leaves;
  AddLeaves(*wire::FindService("sagemaker")->FindOperation(action)->input, "", leaves);
  return leaves;
}

inline bool IsRefusal(const FieldRule& rule) {
  return rule.treatment == Treatment::kRefused || rule.treatment == Treatment::kRefusedIfSet;
}

// A refusal covers what lies below it; honouring must be said of the very member.
inline bool Covers(const FieldRule& rule, const std::string& leaf) {
  if (rule.path == leaf) return true;
  return IsRefusal(rule) && leaf.starts_with(rule.path) &&
         (leaf[rule.path.size()] == '.' || leaf[rule.path.size()] == '[');
}

inline std::set<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  CHECK_MSG(file.good(), path);
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

// As the documents print it.
inline std::string RowOf(const FieldRule& rule) {
  return fmt::format("| `{}` | {} | {} |", rule.path, Name(rule.treatment), rule.note);
}

}  // namespace sabia::api
