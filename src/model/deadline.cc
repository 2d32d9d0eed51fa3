#include "model/deadline.h"

#include <array>
#include <charconv>

#include "model/json_fields.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<DeadlinePolicy, std::string_view>, 3> kPolicies = {{
    {DeadlinePolicy::kPlanner, "planner"},
    {DeadlinePolicy::kUniformProgress, "uniform-progress"},
    {DeadlinePolicy::kGreedy, "greedy"},
}};
constexpr std::int64_t kRuntimeMax = 28 * 86'400;  // as MaxRuntimeInSeconds

Result<Seconds> RuntimeOf(const std::string& text) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, seconds);
  if (problem != std::errc() || stopped != end || seconds < 1 || seconds > kRuntimeMax) {
    return Fail(ErrorCode::kInvalidArgument, "Tag '{}' is '{}': a whole number of seconds, 1 to {}",
                kExpectedRuntimeTag, text, kRuntimeMax);
  }
  return Seconds(seconds);
}

}  // namespace

std::string_view Name(DeadlinePolicy policy) { return NameOf(kPolicies, policy); }

json::object Deadline::ToJson() const {
  json::object out{{"policy", Name(policy)}};
  if (expected_runtime) out["expected_runtime"] = expected_runtime->count();
  return out;
}

Result<Deadline> Deadline::FromJson(const json::object& document) {
  Deadline deadline;
  FieldReader in(document);
  in.Enum("policy", kPolicies, deadline.policy);
  std::optional<std::int64_t> runtime;
  in.OptionalInteger("expected_runtime", runtime);
  if (runtime) deadline.expected_runtime = Seconds(*runtime);
  RETURN_IF_ERROR(in.status());
  return deadline;
}

Result<std::optional<Deadline>> DeadlineOf(
    const std::vector<std::pair<std::string, std::string>>& tags) {
  std::optional<Deadline> out;
  std::optional<Seconds> runtime;
  for (const auto& [key, value] : tags) {
    if (key == kDeadlinePolicyTag) {
      const auto policy = FindName(kPolicies, value);
      if (!policy) {
        return Fail(ErrorCode::kInvalidArgument,
                    "Tag '{}' is '{}': planner, uniform-progress or greedy", kDeadlinePolicyTag,
                    value);
      }
      out = Deadline{*policy, {}};
    } else if (key == kExpectedRuntimeTag) {
      ASSIGN_OR_RETURN(runtime, RuntimeOf(value));
    }
  }
  if (runtime && !out) {
    return Fail(ErrorCode::kInvalidArgument, "Tag '{}' is of use together with '{}' only",
                kExpectedRuntimeTag, kDeadlinePolicyTag);
  }
  if (out) out->expected_runtime = runtime;
  return out;
}

Result<std::optional<Deadline>> DeadlineOf(
    const std::vector<std::pair<std::string, std::string>>& tags, const json::object& request) {
  ASSIGN_OR_RETURN(auto deadline, DeadlineOf(tags));
  if (!deadline) return deadline;
  const json::object* limits = FindObject(request, "StoppingCondition");
  const auto wait = limits == nullptr ? std::nullopt : FindInt(*limits, "MaxWaitTimeInSeconds");
  if (wait && deadline->expected_runtime && deadline->expected_runtime->count() > *wait) {
    return Fail(ErrorCode::kInvalidArgument,
                "Tag '{}' is {}: no more than MaxWaitTimeInSeconds ({}), which is the deadline",
                kExpectedRuntimeTag, deadline->expected_runtime->count(), *wait);
  }
  if (wait && GetBool(request, "EnableManagedSpotTraining")) return deadline;
  return Fail(ErrorCode::kInvalidArgument,
              "Tag '{}' needs EnableManagedSpotTraining and MaxWaitTimeInSeconds, which is the "
              "deadline",
              kDeadlinePolicyTag);
}

}  // namespace sabia::model
