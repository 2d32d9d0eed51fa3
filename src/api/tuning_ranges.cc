#include "api/tuning_ranges.h"

#include <set>

#include "api/training_job_rules.h"
#include "model/tuning_limits.h"
#include "tuner/grid_search.h"
#include "tuner/parameter_ranges.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

AwsResult<void> CheckName(const model::TuningDefinition& definition, const std::string& name) {
  if (name.empty()) {
    return RefuseValidation("A hyperparameter range has no Name: give 1 to 256 characters");
  }
  if (name == model::kTuningObjectiveParameter) {
    return RefuseValidation("Hyperparameter '{}' cannot be tuned: the service sets it", name);
  }
  const json::object* fixed = FindObject(*definition.definition, "StaticHyperParameters");
  if (fixed == nullptr || !fixed->contains(name)) return {};
  return RefuseValidation(
      "Hyperparameter '{}' has a range and is in StaticHyperParameters ('{}'): it can be tuned or "
      "static, not both",
      name, GetString(*fixed, name));
}

// A training job takes 100 hyperparameters, of which the service sets one.
AwsResult<void> CheckHowMany(const model::TuningDefinition& definition, std::size_t tuned) {
  if (tuned == 0) {
    return RefuseValidation(
        "There is no hyperparameter to tune: give at least one range in ParameterRanges");
  }
  if (tuned > model::kTunedParametersMax) {
    return RefuseQuota({"Number of hyperparameters that can be searched", "Hyperparameters",
                        static_cast<std::int64_t>(model::kTunedParametersMax),
                        static_cast<std::int64_t>(tuned)});
  }
  const json::object* fixed = FindObject(*definition.definition, "StaticHyperParameters");
  std::size_t all = tuned + 1;
  if (fixed != nullptr) {
    all += fixed->size() - (fixed->contains(model::kTuningObjectiveParameter) ? 1 : 0);
  }
  if (all <= model::kHyperParametersMax) return {};
  return RefuseValidation(
      "A training job has at most {} hyperparameters; this has {}: {} tuned, {} static and {}",
      model::kHyperParametersMax, all, tuned, all - tuned - 1, model::kTuningObjectiveParameter);
}

std::string Product(const tuner::Space& space) {
  std::string out;
  for (std::size_t i = 0; i < space.size(); ++i) {
    out += fmt::format("{}{} ({})", i == 0 ? "" : " x ", space[i].Count(), space[i].name());
  }
  return out;
}

AwsResult<tuner::Space> SpaceOf(const model::TuningDefinition& definition) {
  auto space = tuner::Space::Create(tuner::ReadRanges(*definition.ranges));
  if (!space) return RefuseValidation("{}", space.error().message);
  return std::move(*space);
}

// Saturating.
std::uint64_t Sum(std::uint64_t a, std::uint64_t b) {
  return a > tuner::kUncountable - b ? tuner::kUncountable : a + b;
}

}  // namespace

AwsResult<void> CheckTuningRanges(const json::object& config,
                                  const model::TuningDefinition& definition) {
  const auto ranges = tuner::ReadRanges(*definition.ranges);
  RETURN_IF_ERROR(CheckHowMany(definition, ranges.size()));
  for (const tuner::ParameterRange& range : ranges) {
    RETURN_IF_ERROR(CheckName(definition, range.name));
  }
  ASSIGN_OR_RETURN(tuner::Space space, SpaceOf(definition));
  if (GetString(config, "Strategy") != "Grid") return {};
  const auto grid = tuner::GridSearch::Create(std::move(space));
  if (!grid) return RefuseValidation("Strategy Grid: {}", grid.error().message);
  return {};
}

AwsResult<std::uint64_t> CheckCombinations(
    const json::object& config, const std::vector<model::TuningDefinition>& definitions) {
  std::uint64_t count = 0;
  std::string product;
  for (const model::TuningDefinition& definition : definitions) {
    ASSIGN_OR_RETURN(const tuner::Space space, SpaceOf(definition));
    count = Sum(count, space.Count());
    product += (product.empty() ? "" : " + ") + Product(space);
  }
  const json::object* limits = FindObject(config, "ResourceLimits");
  const auto wanted = FindInt(*limits, "MaxNumberOfTrainingJobs");
  if (GetString(config, "Strategy") == "Grid") {
    if (count > tuner::kGridLimit) {
      return RefuseQuota({"Number of training jobs per hyperparameter tuning job", "Training jobs",
                          static_cast<std::int64_t>(tuner::kGridLimit),
                          static_cast<std::int64_t>(count)});
    }
    if (!wanted || static_cast<std::uint64_t>(*wanted) == count) return count;
    return RefuseValidation(
        "Strategy Grid: MaxNumberOfTrainingJobs is left out or equals the number of combinations, "
        "{} = {}, not {}",
        product, count, *wanted);
  }
  if (!wanted || count >= static_cast<std::uint64_t>(*wanted)) return count;
  return RefuseValidation(
      "You don't have enough combinations of hyperparameter ranges. The total number of "
      "hyperparameter combinations for the provided ranges [{}.0] must be equal or greater than "
      "the value of MaxNumberOfJobs, [{}]. Provide additional ranges.",
      count, *wanted);
}

}  // namespace sabia::api
