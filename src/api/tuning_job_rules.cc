#include "api/tuning_job_rules.h"

#include <charconv>
#include <cmath>
#include <set>

#include "api/training_job_rules.h"
#include "api/tuning_autotune.h"
#include "api/tuning_job_fields.h"
#include "api/tuning_ranges.h"
#include "model/limits.h"
#include "model/training_request.h"
#include "model/tuning_limits.h"
#include "tuner/hyperband.h"

namespace sabia::api {
namespace {

using model::TuningDefinition;
using wire::AwsResult;
using wire::RefuseValidation;

const json::object& ConfigOf(const json::object& request) {
  return *FindObject(request, "HyperParameterTuningJobConfig");
}

bool IsAutotuned(const json::object& request) { return request.contains("Autotune"); }

bool HasAutoParameters(const TuningDefinition& definition) {
  return definition.ranges != nullptr &&
         FindArray(*definition.ranges, "AutoParameters") != nullptr &&
         !FindArray(*definition.ranges, "AutoParameters")->empty();
}

// Which of the two members of a pair is there; both or none is refused.
AwsResult<void> CheckDefinitionsGiven(const json::object& request) {
  const bool one = request.contains("TrainingJobDefinition");
  const bool several = request.contains("TrainingJobDefinitions");
  if (one && several) {
    return RefuseValidation(
        "Only one of TrainingJobDefinition and TrainingJobDefinitions can be given, not both");
  }
  if (one || several) return {};
  return RefuseValidation("One of TrainingJobDefinition and TrainingJobDefinitions must be given");
}

AwsResult<void> CheckOnlyDefinition(const json::object& request) {
  const json::object& config = ConfigOf(request);
  const json::object& definition = *FindObject(request, "TrainingJobDefinition");
  if (config.contains("HyperParameterTuningJobObjective") &&
      definition.contains("TuningObjective")) {
    return RefuseValidation(
        "Only one of HyperParameterTuningJobObjective in HyperParameterTuningJobConfig and "
        "TuningObjective in TrainingJobDefinition can be given, not both");
  }
  if (config.contains("ParameterRanges") && definition.contains("HyperParameterRanges")) {
    return RefuseValidation(
        "Only one of ParameterRanges in HyperParameterTuningJobConfig and HyperParameterRanges in "
        "TrainingJobDefinition can be given, not both");
  }
  const TuningDefinition read = model::TuningDefinitionsOf(request).front();
  if (read.objective == nullptr) {
    return RefuseNull("hyperParameterTuningJobConfig.hyperParameterTuningJobObjective");
  }
  if (read.ranges != nullptr || IsAutotuned(request)) return {};
  return RefuseNull("hyperParameterTuningJobConfig.parameterRanges");
}

AwsResult<void> CheckSeveralDefinitions(const json::object& request) {
  const json::object& config = ConfigOf(request);
  for (const char* member : {"HyperParameterTuningJobObjective", "ParameterRanges"}) {
    if (!config.contains(member)) continue;
    return RefuseValidation(
        "{} in HyperParameterTuningJobConfig cannot be combined with TrainingJobDefinitions: each "
        "definition has a TuningObjective and HyperParameterRanges",
        member);
  }
  std::set<std::string> names;
  const auto definitions = model::TuningDefinitionsOf(request);
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const TuningDefinition& definition = definitions[i];
    const auto path = [&](const char* member) {
      return fmt::format("trainingJobDefinitions.{}.member.{}", i + 1, member);
    };
    if (definition.name.empty()) return RefuseNull(path("definitionName"));
    if (!names.insert(definition.name).second) {
      return RefuseValidation("DefinitionName must be unique, and '{}' is given twice",
                              definition.name);
    }
    if (definition.objective == nullptr) return RefuseNull(path("tuningObjective"));
    if (definition.ranges == nullptr && !IsAutotuned(request)) {
      return RefuseNull(path("hyperParameterRanges"));
    }
  }
  return {};
}

// Early stopping and warm start compare trials with trials of the same space.
AwsResult<void> CheckWhatSeveralCannot(const json::object& request) {
  const json::array* several = FindArray(request, "TrainingJobDefinitions");
  if (several == nullptr || several->size() < 2) return {};
  if (request.contains("WarmStartConfig")) {
    return RefuseValidation(
        "WarmStartConfig is available only when tuning a single algorithm, and "
        "TrainingJobDefinitions has {}",
        several->size());
  }
  if (GetString(ConfigOf(request), "TrainingJobEarlyStoppingType") == "Auto") {
    return RefuseValidation(
        "TrainingJobEarlyStoppingType Auto is available only when tuning a single algorithm, and "
        "TrainingJobDefinitions has {}",
        several->size());
  }
  return {};
}

AwsResult<void> CheckResourceConfigs(const json::object& definition) {
  const json::object* tuning = FindObject(definition, "HyperParameterTuningResourceConfig");
  if (tuning == nullptr) return {};
  if (definition.contains("ResourceConfig")) {
    return RefuseValidation(
        "Only one of ResourceConfig and HyperParameterTuningResourceConfig can be given, not both");
  }
  const bool several = tuning->contains("InstanceConfigs");
  for (const char* member : {"InstanceType", "InstanceCount", "VolumeSizeInGB"}) {
    if (!several || !tuning->contains(member)) continue;
    return RefuseValidation(
        "InstanceConfigs cannot be combined with {} in HyperParameterTuningResourceConfig", member);
  }
  if (several || !tuning->contains("AllocationStrategy")) return {};
  return RefuseValidation(
      "AllocationStrategy in HyperParameterTuningResourceConfig needs InstanceConfigs to choose "
      "from");
}

AwsResult<void> CheckLimits(const json::object& request) {
  const json::object& config = ConfigOf(request);
  const json::object& limits = *FindObject(config, "ResourceLimits");
  const auto trials = FindInt(limits, "MaxNumberOfTrainingJobs");
  if (trials && *trials > model::kTrialsPerTuningJobMax) {
    return RefuseQuota({"Number of training jobs per hyperparameter tuning job", "Training jobs",
                        model::kTrialsPerTuningJobMax, *trials});
  }
  const std::int64_t parallel = GetInt(limits, "MaxParallelTrainingJobs");
  if (parallel > model::kParallelTrialsMax) {
    return RefuseQuota({"Number of parallel training jobs per hyperparameter tuning job",
                        "Training jobs", model::kParallelTrialsMax, parallel});
  }
  if (trials || GetString(config, "Strategy") == "Grid" || limits.contains("MaxRuntimeInSeconds")) {
    return {};
  }
  return RefuseValidation(
      "MaxNumberOfTrainingJobs in ResourceLimits must be given with strategy {}: it can be left "
      "out "
      "only with strategy Grid, with Autotune, or when MaxRuntimeInSeconds ends the search",
      GetString(config, "Strategy"));
}

AwsResult<void> CheckCriteria(const json::object& config) {
  const json::object* criteria = FindObject(config, "TuningJobCompletionCriteria");
  if (criteria == nullptr) return {};
  const json::value* target = criteria->if_contains("TargetObjectiveMetricValue");
  if (target == nullptr || target->is_null()) return {};
  if (target->is_number() && std::isfinite(target->to_number<double>())) return {};
  return RefuseValidation(
      "TargetObjectiveMetricValue in TuningJobCompletionCriteria must be a finite number");
}

std::optional<std::int64_t> ReadResource(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

AwsResult<std::int64_t> MaxResourceOf(const json::object* hyperband,
                                      const TuningDefinition& definition) {
  if (hyperband != nullptr) {
    if (const auto given = FindInt(*hyperband, "MaxResource")) return *given;
  }
  const auto inferred = model::ResourceOf(*definition.definition);
  if (!inferred) {
    return RefuseValidation(
        "Strategy Hyperband needs MaxResource in HyperbandStrategyConfig, or one of epochs, "
        "numepochs, n-epochs, n_epochs, num_epochs in StaticHyperParameters to infer it from");
  }
  const auto value = ReadResource(inferred->text);
  if (value) return *value;
  return RefuseValidation(
      "Strategy Hyperband cannot infer MaxResource from the static hyperparameter '{}': '{}' is no "
      "integer. Give MaxResource in HyperbandStrategyConfig",
      inferred->name, inferred->text);
}

AwsResult<void> CheckHyperband(const json::object& config, const TuningDefinition& definition) {
  const json::object* strategy = FindObject(config, "StrategyConfig");
  if (GetString(config, "Strategy") != "Hyperband") {
    if (strategy == nullptr) return {};
    return RefuseValidation("StrategyConfig can be given only with strategy Hyperband, not with {}",
                            GetString(config, "Strategy"));
  }
  if (GetString(config, "TrainingJobEarlyStoppingType", "Off") != "Off") {
    return RefuseValidation(
        "TrainingJobEarlyStoppingType must be Off with strategy Hyperband, which stops training "
        "jobs itself");
  }
  const json::object* hyperband =
      strategy == nullptr ? nullptr : FindObject(*strategy, "HyperbandStrategyConfig");
  ASSIGN_OR_RETURN(const std::int64_t max, MaxResourceOf(hyperband, definition));
  const std::int64_t min = hyperband == nullptr ? 1 : GetInt(*hyperband, "MinResource", 1);
  if (max < 1 || max > tuner::kResourceMax) {
    return RefuseValidation("MaxResource of strategy Hyperband is {}; it must be within 1 and {}",
                            max, tuner::kResourceMax);
  }
  if (min <= max) return {};
  return RefuseValidation("MinResource of strategy Hyperband is {}, which is above MaxResource, {}",
                          min, max);
}

// CompleteTrainingRequest reads CreateTrainingJob, where the static hyperparameters have another
// name.
void CompleteDefinition(json::object& definition, const std::string& objective) {
  json::value parameters = json::object();
  if (json::value* given = definition.if_contains("StaticHyperParameters");
      given != nullptr && given->is_object()) {
    parameters = std::move(*given);
  }
  definition["HyperParameters"] = std::move(parameters);
  model::CompleteTrainingRequest(definition);
  parameters = std::move(definition["HyperParameters"]);
  definition.erase("HyperParameters");
  // What the definition's algorithm has no member for.
  definition["AlgorithmSpecification"].get_object().erase("EnableSageMakerMetricsTimeSeries");
  json::value& told = parameters.get_object()[model::kTuningObjectiveParameter];
  if (told.is_null()) told = objective;
  definition["StaticHyperParameters"] = std::move(parameters);
}

// AWS's sentence; SDK users search for it.
AwsResult<void> CheckObjective(const TuningDefinition& definition) {
  const json::object& algorithm = *FindObject(*definition.definition, "AlgorithmSpecification");
  const std::string name = GetString(*definition.objective, "MetricName");
  std::string known;
  if (const json::array* metrics = FindArray(algorithm, "MetricDefinitions")) {
    for (const json::value& metric : *metrics) {
      const std::string given = GetString(metric.get_object(), "Name");
      if (given == name) return {};
      known += (known.empty() ? "" : ", ") + given;
    }
  }
  constexpr std::string_view kSentence =
      "A metric is required for this hyperparameter tuning job objective. Provide a metric in the "
      "metric definitions.";
  if (known.empty()) return RefuseValidation("{}", kSentence);
  return RefuseValidation("{} The objective is '{}', and the metric definitions have {}.",
                          kSentence, name, known);
}

AwsResult<void> CheckObjectiveParameter(const TuningDefinition& definition) {
  const json::object* fixed = FindObject(*definition.definition, "StaticHyperParameters");
  const std::string name = GetString(*definition.objective, "MetricName");
  const std::string said = GetString(*fixed, model::kTuningObjectiveParameter, name);
  if (said == name) return {};
  return RefuseValidation(
      "Static hyperparameter '{}' is '{}', and the objective is '{}': leave it out, the service "
      "sets it",
      model::kTuningObjectiveParameter, said, name);
}

AwsResult<void> CheckDefinition(const model::InstanceCatalog& instances, const json::object& config,
                                const TuningDefinition& definition) {
  const json::object training = model::TrainingRequestOf(instances, *definition.definition);
  RETURN_IF_ERROR(CheckRequest(training));
  RETURN_IF_ERROR(CheckInstanceTypes(instances, training));
  RETURN_IF_ERROR(CheckObjective(definition));
  RETURN_IF_ERROR(CheckObjectiveParameter(definition));
  RETURN_IF_ERROR(CheckHyperband(config, definition));
  return CheckTuningRanges(config, definition);
}

AwsResult<void> CheckBetweenDefinitions(const std::vector<TuningDefinition>& definitions) {
  std::size_t variables = 0;
  for (const TuningDefinition& definition : definitions) {
    const json::object& first = *definitions.front().objective;
    if (GetString(*definition.objective, "Type") != GetString(first, "Type")) {
      return RefuseValidation(
          "The Type of TuningObjective must be the same in every definition: '{}' has {}, '{}' has "
          "{}",
          definitions.front().name, GetString(first, "Type"), definition.name,
          GetString(*definition.objective, "Type"));
    }
    const json::object* environment = FindObject(*definition.definition, "Environment");
    if (environment != nullptr) variables += environment->size();
  }
  if (variables <= model::kEnvironmentMax) return {};
  return RefuseValidation(
      "The training job definitions have {} Environment variables together; at most {} are allowed",
      variables, model::kEnvironmentMax);
}

}  // namespace

AwsResult<void> AboutDefinition(const TuningDefinition& definition, AwsResult<void> checked) {
  if (checked || definition.path == "TrainingJobDefinition") return checked;
  wire::AwsError error = std::move(checked).error();
  error.message = fmt::format("{} ('{}'): {}", definition.path, definition.name, error.message);
  return tl::make_unexpected(std::move(error));
}

AwsResult<void> CheckTuningShape(const json::object& request) {
  RETURN_IF_ERROR(RefuseUnsupportedFields(CreateTuningJobFields(), request));
  RETURN_IF_ERROR(CheckDefinitionsGiven(request));
  RETURN_IF_ERROR(request.contains("TrainingJobDefinition") ? CheckOnlyDefinition(request)
                                                            : CheckSeveralDefinitions(request));
  RETURN_IF_ERROR(CheckWhatSeveralCannot(request));
  for (const TuningDefinition& definition : model::TuningDefinitionsOf(request)) {
    for (const auto rules : {TuningDefinitionFields(), CreateTrainingJobFields()}) {
      RETURN_IF_ERROR(
          AboutDefinition(definition, RefuseUnsupportedFields(rules, *definition.definition)));
    }
    RETURN_IF_ERROR(AboutDefinition(definition, CheckResourceConfigs(*definition.definition)));
    if (!HasAutoParameters(definition) || IsAutotuned(request)) continue;
    return RefuseValidation(
        "AutoParameters can be given only with Autotune, whose Mode is then Enabled");
  }
  return {};
}

void CompleteTuningRequest(json::object& request) {
  json::value& early =
      request["HyperParameterTuningJobConfig"].get_object()["TrainingJobEarlyStoppingType"];
  if (early.is_null()) early = "Off";
  // The objectives may stand inside of what is being changed.
  std::vector<std::string> objectives;
  for (const TuningDefinition& definition : model::TuningDefinitionsOf(request)) {
    objectives.push_back(GetString(*definition.objective, "MetricName"));
  }
  if (json::value* one = request.if_contains("TrainingJobDefinition"); one != nullptr) {
    CompleteDefinition(one->get_object(), objectives.front());
    return;
  }
  json::array& several = request["TrainingJobDefinitions"].get_array();
  for (std::size_t i = 0; i < several.size(); ++i) {
    CompleteDefinition(several[i].get_object(), objectives[i]);
  }
}

AwsResult<void> CheckTuningRequest(const model::InstanceCatalog& instances,
                                   const json::object& request) {
  const json::object& config = ConfigOf(request);
  RETURN_IF_ERROR(CheckTags(request));
  RETURN_IF_ERROR(CheckLimits(request));
  RETURN_IF_ERROR(CheckCriteria(config));
  const auto definitions = model::TuningDefinitionsOf(request);
  for (const TuningDefinition& definition : definitions) {
    RETURN_IF_ERROR(AboutDefinition(definition, CheckDefinition(instances, config, definition)));
  }
  RETURN_IF_ERROR(CheckBetweenDefinitions(definitions));
  RETURN_IF_ERROR(CheckCombinations(config, definitions));
  return {};
}

AwsResult<void> AcceptTuningRequest(const model::InstanceCatalog& instances,
                                    json::object& request) {
  RETURN_IF_ERROR(CheckTuningShape(request));
  RETURN_IF_ERROR(ApplyAutotune(request));
  CompleteTuningRequest(request);
  RETURN_IF_ERROR(CheckTuningRequest(instances, request));
  json::object& config = request["HyperParameterTuningJobConfig"].get_object();
  ASSIGN_OR_RETURN(const std::uint64_t combinations,
                   CheckCombinations(config, model::TuningDefinitionsOf(request)));
  json::value& trials = config["ResourceLimits"].get_object()["MaxNumberOfTrainingJobs"];
  if (!trials.is_null()) return {};
  const bool grid = GetString(config, "Strategy") == "Grid";
  trials = grid ? static_cast<std::int64_t>(combinations) : model::kTrialsPerTuningJobMax;
  return {};
}

std::vector<std::string> NotesOnTuningRequest(const model::InstanceCatalog& instances,
                                              const json::object& request) {
  std::vector<std::string> notes;
  for (const TuningDefinition& definition : model::TuningDefinitionsOf(request)) {
    const json::object training = model::TrainingRequestOf(instances, *definition.definition);
    for (const std::string& note : NotesOnRequest(training)) {
      notes.push_back(definition.name.empty() ? note
                                              : fmt::format("{}: {}", definition.name, note));
    }
  }
  if (notes.size() > model::kNotesPerJobMax) notes.resize(model::kNotesPerJobMax);
  return notes;
}

}  // namespace sabia::api
