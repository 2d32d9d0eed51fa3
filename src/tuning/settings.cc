#include "tuning/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/training_request.h"
#include "model/tuning_limits.h"
#include "model/tuning_request.h"
#include "tuner/grid_search.h"
#include "tuner/hyperband.h"
#include "tuner/parameter_ranges.h"

namespace sabia::tuning {
namespace {

const json::object& Structure(const json::object& object, std::string_view key) {
  static const json::object kEmpty;
  const json::object* found = FindObject(object, key);
  return found == nullptr ? kEmpty : *found;
}

// The schema has checked the name.
StrategyKind StrategyOf(const json::object& config) {
  const std::string name = GetString(config, "Strategy");
  if (name == "Random") return StrategyKind::kRandom;
  if (name == "Grid") return StrategyKind::kGrid;
  if (name == "Hyperband") return StrategyKind::kHyperband;
  return StrategyKind::kBayesian;
}

Result<std::int64_t> LargestResource(const json::object& hyperband, const json::object& source) {
  if (const auto given = FindInt(hyperband, "MaxResource")) return *given;
  const auto inferred = model::ResourceOf(source);
  if (!inferred) {
    return Fail(ErrorCode::kInvalidArgument,
                "MaxResource of HyperbandStrategyConfig is missing, and no static hyperparameter "
                "says how long a training is");
  }
  const std::string& text = inferred->text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Fail(ErrorCode::kInvalidArgument,
              "MaxResource cannot be inferred from the static hyperparameter '{}': '{}' is no "
              "integer",
              inferred->name, text);
}

Status ReadResources(const json::object& config, const json::object& source,
                     Definition& definition) {
  const json::object& hyperband =
      Structure(Structure(config, "StrategyConfig"), "HyperbandStrategyConfig");
  definition.min_resource = GetInt(hyperband, "MinResource", 1);
  ASSIGN_OR_RETURN(definition.max_resource, LargestResource(hyperband, source));
  const auto made = tuner::Hyperband::Create(
      definition.space,
      {.min_resource = definition.min_resource, .max_resource = definition.max_resource});
  if (!made) return tl::make_unexpected(made.error());
  return {};
}

json::object TrainingOf(const model::InstanceCatalog& catalog, const json::object& source,
                        const std::string& metric) {
  json::object training = model::TrainingRequestOf(catalog, source);
  model::CompleteTrainingRequest(training);
  training["HyperParameters"].get_object()[model::kTuningObjectiveParameter] = metric;
  return training;
}

Result<Definition> ReadDefinition(const model::InstanceCatalog& catalog, const json::object& config,
                                  const model::TuningDefinition& source) {
  const std::string metric =
      source.objective == nullptr ? "" : GetString(*source.objective, "MetricName");
  if (metric.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "{} has no objective", source.path);
  }
  ASSIGN_OR_RETURN(
      tuner::Space space,
      tuner::Space::Create(source.ranges == nullptr ? std::vector<tuner::ParameterRange>()
                                                    : tuner::ReadRanges(*source.ranges)));
  Definition definition{.name = source.name,
                        .metric = metric,
                        .goal = GetString(*source.objective, "Type") == "Maximize"
                                    ? tuner::Goal::kMaximize
                                    : tuner::Goal::kMinimize,
                        .space = std::move(space),
                        .training = TrainingOf(catalog, *source.definition, metric)};
  if (StrategyOf(config) == StrategyKind::kHyperband) {
    RETURN_IF_ERROR(ReadResources(config, *source.definition, definition));
  }
  return definition;
}

Status ReadDefinitions(const model::InstanceCatalog& catalog, const json::object& request,
                       Settings& settings) {
  const json::object& config = Structure(request, "HyperParameterTuningJobConfig");
  for (const model::TuningDefinition& source : model::TuningDefinitionsOf(request)) {
    auto definition = ReadDefinition(catalog, config, source);
    if (!definition) return Wrap(definition.error(), source.path + ": ");
    if (settings.Find(definition->name) != nullptr) {
      return Fail(ErrorCode::kInvalidArgument, "DefinitionName '{}' is given twice", source.name);
    }
    settings.definitions.push_back(std::move(*definition));
    if (settings.definitions.back().goal == settings.goal()) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "the objectives of '{}' and '{}' have different Types, so that no trial is best",
                settings.definitions.front().name, source.name);
  }
  if (!settings.definitions.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument, "there is no training job definition");
}

void ReadCriteria(const json::object& config, Settings& settings) {
  const json::object& criteria = Structure(config, "TuningJobCompletionCriteria");
  settings.target = FindDouble(criteria, "TargetObjectiveMetricValue");
  const auto not_improving = FindInt(Structure(criteria, "BestObjectiveNotImproving"),
                                     "MaxNumberOfTrainingJobsNotImproving");
  if (not_improving) settings.not_improving_max = static_cast<int>(*not_improving);
  settings.complete_on_convergence =
      GetString(Structure(criteria, "ConvergenceDetected"), "CompleteOnConvergence") == "Enabled";
}

// A grid is as large as it is: MaxNumberOfTrainingJobs need not be given.
Status ReadLimits(const json::object& limits, Settings& settings) {
  settings.parallel_max = static_cast<int>(GetInt(limits, "MaxParallelTrainingJobs", 1));
  if (const auto seconds = FindInt(limits, "MaxRuntimeInSeconds")) {
    settings.runtime_max = Seconds(*seconds);
  }
  settings.trials_max =
      static_cast<int>(GetInt(limits, "MaxNumberOfTrainingJobs", model::kTrialsPerTuningJobMax));
  if (settings.strategy != StrategyKind::kGrid) return {};
  std::uint64_t size = 0;
  for (const Definition& definition : settings.definitions) {
    ASSIGN_OR_RETURN(const tuner::GridSearch grid, tuner::GridSearch::Create(definition.space));
    size += grid.Count();
  }
  if (size < static_cast<std::uint64_t>(settings.trials_max)) {
    settings.trials_max = static_cast<int>(size);
  }
  return {};
}

}  // namespace

const Definition* Settings::Find(std::string_view definition) const {
  const auto found = std::ranges::find(definitions, definition, &Definition::name);
  return found == definitions.end() ? nullptr : &*found;
}

Result<Settings> ReadSettings(const model::InstanceCatalog& catalog, const json::object& request) {
  const json::object& config = Structure(request, "HyperParameterTuningJobConfig");
  Settings settings;
  settings.strategy = StrategyOf(config);
  settings.median_rule = GetString(config, "TrainingJobEarlyStoppingType") == "Auto";
  RETURN_IF_ERROR(ReadDefinitions(catalog, request, settings));
  RETURN_IF_ERROR(ReadLimits(Structure(config, "ResourceLimits"), settings));
  ReadCriteria(config, settings);
  settings.identical_parents = GetString(Structure(request, "WarmStartConfig"), "WarmStartType") ==
                               "IdenticalDataAndAlgorithm";
  return settings;
}

json::object TrialRequest(const Definition& definition, const tuner::Configuration& values,
                          std::string_view training_job) {
  json::object request = definition.training;
  request["TrainingJobName"] = training_job;
  json::object& parameters = request["HyperParameters"].get_object();
  for (std::size_t i = 0; i < values.size(); ++i) {
    parameters[definition.space[i].name()] = values[i];
  }
  if (const json::object* checkpoint = FindObject(request, "CheckpointConfig")) {
    std::string uri = GetString(*checkpoint, "S3Uri");
    if (!uri.ends_with('/')) uri += '/';
    request["CheckpointConfig"].get_object()["S3Uri"] = uri + std::string(training_job);
  }
  return request;
}

}  // namespace sabia::tuning
