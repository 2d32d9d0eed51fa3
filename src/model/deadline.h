// How a spot job meets its deadline, MaxWaitTimeInSeconds: chosen with tags when it is created.
//
//   sabia:deadline-policy   planner | uniform-progress | greedy: the job runs on spot, waits, or
//                           runs on demand, so that it ends by MaxWaitTimeInSeconds
//   sabia:expected-runtime  seconds that its program runs without interruptions; without it
//                           MaxRuntimeInSeconds is the estimate
//
// The tags count when the job is created; changing them later changes nothing. Pure values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace sabia::model {

inline constexpr std::string_view kDeadlinePolicyTag = "sabia:deadline-policy";
inline constexpr std::string_view kExpectedRuntimeTag = "sabia:expected-runtime";

enum class DeadlinePolicy { kPlanner, kUniformProgress, kGreedy };
std::string_view Name(DeadlinePolicy policy);

struct Deadline {
  DeadlinePolicy policy = DeadlinePolicy::kPlanner;
  std::optional<Seconds> expected_runtime;

  bool operator==(const Deadline&) const = default;
  json::object ToJson() const;
  static Result<Deadline> FromJson(const json::object& document);
};

// Nothing when the tags ask for none. kInvalidArgument names the tag, its value and what is
// allowed.
Result<std::optional<Deadline>> DeadlineOf(
    const std::vector<std::pair<std::string, std::string>>& tags);
// The same for the job of a CreateTrainingJob request, which must have what a deadline needs.
Result<std::optional<Deadline>> DeadlineOf(
    const std::vector<std::pair<std::string, std::string>>& tags, const json::object& request);

}  // namespace sabia::model
