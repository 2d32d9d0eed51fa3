// Honour or refuse, member by member: what becomes of every field of CreateTrainingJob.
//
// The table is complete: a test walks the service schema at every depth and fails on a member
// without a row, so a schema update cannot add a field that is accepted and ignored.
// docs/semantics/training-job.md prints the same rows; a test compares them.
//
// Pure; any thread.
#pragma once

#include <span>
#include <string_view>

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::api {

enum class Treatment {
  kHonoured,      // changes what happens
  kImmaterial,    // kept and echoed; cannot matter on local machines, for the reason given
  kRefused,       // present at all: refused by name
  kRefusedIfSet,  // refused unless it says what holds anyway: false, 0, "", an empty list
};

struct FieldRule {
  // Dotted path; "[]" marks list elements. A kRefused row covers everything below its path.
  std::string_view path;
  Treatment treatment;
  // What honouring means, why it is immaterial, or why it is refused and what to do instead.
  std::string_view note;
};

std::string_view Name(Treatment treatment);
std::span<const FieldRule> CreateTrainingJobFields();

// ValidationException that names the first refused member of the request, in the table's order.
wire::AwsResult<void> RefuseUnsupportedFields(std::span<const FieldRule> rules,
                                              const json::object& request);

}  // namespace sabia::api
