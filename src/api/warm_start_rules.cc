#include "api/warm_start_rules.h"

#include <map>
#include <set>

#include "model/tuning_limits.h"
#include "model/tuning_request.h"
#include "tuner/parameter_ranges.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

// What a definition says of its hyperparameters. Those that the service and the SDKs set for
// themselves are no choice of the user.
struct Parameters {
  std::map<std::string, tuner::ParameterRange> tuned;
  std::map<std::string, std::string> fixed;

  bool Has(const std::string& name) const { return tuned.contains(name) || fixed.contains(name); }
};

bool IsOurs(std::string_view name) {
  return name == model::kTuningObjectiveParameter || name.starts_with("sagemaker_");
}

Parameters ParametersOf(const model::TuningDefinition& definition) {
  Parameters out;
  for (tuner::ParameterRange& range : tuner::ReadRanges(*definition.ranges)) {
    out.tuned.emplace(range.name, range);
  }
  if (const json::object* fixed = FindObject(*definition.definition, "StaticHyperParameters")) {
    for (const auto& [key, value] : *fixed) {
      if (!IsOurs(key)) out.fixed.emplace(key, View(value.get_string()));
    }
  }
  return out;
}

void AppendMissing(const Parameters& from, const Parameters& in, std::string& out) {
  const auto append = [&](const std::string& name) {
    if (!in.Has(name)) out += (out.empty() ? "" : ", ") + name;
  };
  for (const auto& [name, range] : from.tuned) append(name);
  for (const auto& [name, value] : from.fixed) append(name);
}

AwsResult<void> CheckNames(const std::string& parent, const Parameters& before,
                           const Parameters& now) {
  std::string gone, added;
  AppendMissing(before, now, gone);
  AppendMissing(now, before, added);
  if (gone.empty() && added.empty()) return {};
  std::string differing;
  if (!gone.empty()) differing += fmt::format("only the parent has {}", gone);
  if (!added.empty()) {
    differing += fmt::format("{}the parent does not have {}", gone.empty() ? "" : "; ", added);
  }
  return RefuseValidation(
      "The static and tunable hyperparameters of a warm start tuning job must be those of its "
      "parents. Parent '{}': {}",
      parent, differing);
}

AwsResult<void> CheckKinds(const std::string& parent, const Parameters& before,
                           const Parameters& now) {
  for (const auto& [name, range] : now.tuned) {
    const auto found = before.tuned.find(name);
    if (found == before.tuned.end() || found->second.kind == range.kind) continue;
    return RefuseValidation(
        "The type of a hyperparameter must not change in a warm start tuning job: '{}' is {}, and "
        "{} in parent '{}'",
        name, Name(range.kind), Name(found->second.kind), parent);
  }
  return {};
}

// As the guide counts: a category that is no longer tried is one change, a static value that
// changes is two.
std::int64_t CountChanges(const Parameters& before, const Parameters& now) {
  std::int64_t changes = 0;
  for (const auto& [name, value] : now.fixed) {
    if (const auto tuned = before.tuned.find(name); tuned != before.tuned.end()) {
      changes += tuned->second.kind == tuner::ParameterKind::kCategorical
                     ? static_cast<std::int64_t>(tuned->second.values.size())
                     : 1;
    } else if (const auto fixed = before.fixed.find(name);
               fixed != before.fixed.end() && fixed->second != value) {
      changes += 2;
    }
  }
  return changes;
}

AwsResult<void> CheckObjective(const std::string& parent, const json::object& before,
                               const json::object& now) {
  for (const char* member : {"MetricName", "Type"}) {
    if (GetString(before, member) == GetString(now, member)) continue;
    return RefuseValidation(
        "The objective metric of a warm start tuning job must be that of its parents: {} is '{}', "
        "and '{}' in parent '{}'",
        member, GetString(now, member), GetString(before, member), parent);
  }
  return {};
}

AwsResult<void> CheckParent(const model::TuningDefinition& definition,
                            const model::TuningJob& parent) {
  if (!model::IsTerminal(parent.phase)) {
    return RefuseValidation(
        "Parent tuning job '{}' is in status {}: all parents must be Completed, Stopped or Failed",
        parent.name, model::PrimaryStatus(parent.phase));
  }
  const auto definitions = model::TuningDefinitionsOf(parent.request);
  if (definitions.size() != 1) {
    return RefuseValidation(
        "Parent tuning job '{}' has {} training job definitions: warm start is available only for "
        "a single algorithm",
        parent.name, definitions.size());
  }
  RETURN_IF_ERROR(
      CheckObjective(parent.name, *definitions.front().objective, *definition.objective));
  const Parameters before = ParametersOf(definitions.front());
  const Parameters now = ParametersOf(definition);
  RETURN_IF_ERROR(CheckNames(parent.name, before, now));
  RETURN_IF_ERROR(CheckKinds(parent.name, before, now));
  const std::int64_t changes = CountChanges(before, now);
  if (changes <= model::kWarmStartChangesMax) return {};
  return RefuseValidation(
      "A warm start tuning job can change tunable hyperparameters to static ones and static values "
      "in at most {} ways (each category counts, and a changed static value counts twice); against "
      "parent '{}' there are {}",
      model::kWarmStartChangesMax, parent.name, changes);
}

}  // namespace

AwsResult<void> CheckWarmStart(const json::object& request,
                               const std::vector<model::TuningJob>& parents) {
  const model::TuningDefinition definition = model::TuningDefinitionsOf(request).front();
  std::set<std::string> names;
  for (const model::TuningJob& parent : parents) {
    if (!names.insert(parent.name).second) {
      return RefuseValidation("Parent tuning job '{}' is given twice", parent.name);
    }
    RETURN_IF_ERROR(CheckParent(definition, parent));
  }
  return {};
}

}  // namespace sabia::api
