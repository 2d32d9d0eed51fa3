#include "tuning/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/training_request.h"
#include "tuner/grid_search.h"
#include "tuner/hyperband.h"
#include "tuning/autotune.h"
#include "tuning/training_request.h"

namespace sabia::tuning {
namespace {

constexpr std::array<std::string_view, 5> kEpochParameters = {"epochs", "numepochs", "n-epochs",
                                                              "n_epochs", "num_epochs"};

template <typename T>
using NameTable = std::initializer_list<std::pair<std::string_view, T>>;

// The schema has checked the names.
template <typename T>
T Lookup(NameTable<T> table, std::string_view name, T otherwise) {
  for (const auto& [text, value] : table) {
    if (text == name) return value;
  }
  return otherwise;
}

const json::object& Empty() {
  static const json::object kEmpty;
  return kEmpty;
}

const json::object& Structure(const json::object& object, std::string_view key) {
  const json::object* found = FindObject(object, key);
  return found == nullptr ? Empty() : *found;
}

const json::object& ConfigOf(const json::object& request) {
  return Structure(request, "HyperParameterTuningJobConfig");
}

void Default(json::object& object, std::string_view key, json::value value) {
  json::value& slot = object[key];
  if (slot.is_null()) slot = std::move(value);
}

void CompleteRanges(json::object& owner, std::string_view key) {
  json::value* ranges = owner.if_contains(key);
  if (ranges == nullptr || !ranges->is_object()) return;
  for (const char* kind : {"IntegerParameterRanges", "ContinuousParameterRanges"}) {
    json::value* list = ranges->get_object().if_contains(kind);
    if (list == nullptr || !list->is_array()) continue;
    for (json::value& range : list->get_array()) {
      Default(range.get_object(), "ScalingType", "Auto");
    }
  }
}

std::string MetricOf(const json::object& request, const json::object& definition) {
  const json::object* own = FindObject(definition, "TuningObjective");
  const json::object& objective =
      own != nullptr ? *own : Structure(ConfigOf(request), "HyperParameterTuningJobObjective");
  return GetString(objective, "MetricName");
}

void CompleteDefinition(json::object& definition, const std::string& metric) {
  json::object training = TrainingRequestOf(definition, metric);
  model::CompleteTrainingRequest(training);
  // What the service fills in of a training job, it shows in the definition, too.
  for (const char* member :
       {"OutputDataConfig", "StoppingCondition", "InputDataConfig", "EnableNetworkIsolation",
        "EnableInterContainerTrafficEncryption", "EnableManagedSpotTraining"}) {
    if (json::value* value = training.if_contains(member)) definition[member] = std::move(*value);
  }
  json::object* algorithm = definition["AlgorithmSpecification"].if_object();
  const json::object& completed = Structure(training, "AlgorithmSpecification");
  if (const json::array* metrics = FindArray(completed, "MetricDefinitions");
      algorithm != nullptr && metrics != nullptr) {
    (*algorithm)["MetricDefinitions"] = *metrics;
  }
  json::value& fixed = definition["StaticHyperParameters"];
  if (!fixed.is_object()) fixed = json::object();
  if (!metric.empty()) fixed.get_object()[kObjectiveParameter] = metric;
  CompleteRanges(definition, "HyperParameterRanges");
}

void AddNumbers(const json::object& ranges, tuner::ParameterKind kind,
                std::vector<tuner::ParameterRange>& out) {
  const bool integer = kind == tuner::ParameterKind::kInteger;
  const json::array* list =
      FindArray(ranges, integer ? "IntegerParameterRanges" : "ContinuousParameterRanges");
  if (list == nullptr) return;
  using tuner::Scaling;
  for (const json::value& item : *list) {
    const json::object& range = item.get_object();
    const Scaling scaling = Lookup<Scaling>({{"Linear", Scaling::kLinear},
                                             {"Logarithmic", Scaling::kLogarithmic},
                                             {"ReverseLogarithmic", Scaling::kReverseLogarithmic}},
                                            GetString(range, "ScalingType"), Scaling::kAuto);
    out.push_back({.name = GetString(range, "Name"),
                   .kind = kind,
                   .min = GetString(range, "MinValue"),
                   .max = GetString(range, "MaxValue"),
                   .scaling = scaling});
  }
}

std::vector<tuner::ParameterRange> RangesOf(const json::object& ranges) {
  std::vector<tuner::ParameterRange> out;
  AddNumbers(ranges, tuner::ParameterKind::kContinuous, out);
  AddNumbers(ranges, tuner::ParameterKind::kInteger, out);
  const json::array* categories = FindArray(ranges, "CategoricalParameterRanges");
  if (categories == nullptr) return out;
  for (const json::value& item : *categories) {
    tuner::ParameterRange range{.name = GetString(item.get_object(), "Name"),
                                .kind = tuner::ParameterKind::kCategorical};
    if (const json::array* values = FindArray(item.get_object(), "Values")) {
      for (const json::value& value : *values) range.values.emplace_back(value.get_string());
    }
    out.push_back(std::move(range));
  }
  return out;
}

std::optional<std::int64_t> StaticEpochs(const json::object& definition) {
  const json::object& fixed = Structure(definition, "StaticHyperParameters");
  for (const std::string_view name : kEpochParameters) {
    const auto text = FindString(fixed, name);
    if (!text) continue;
    // The SDK sends script mode's values as JSON, a text in quotes.
    std::string_view digits = *text;
    if (digits.size() > 1 && digits.front() == '"' && digits.back() == '"') {
      digits = digits.substr(1, digits.size() - 2);
    }
    std::int64_t epochs = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), epochs);
    if (error == std::errc() && end == digits.data() + digits.size()) return epochs;
  }
  return {};
}

Status ReadResources(const json::object& request, const json::object& source,
                     Definition& definition) {
  const json::object& given =
      Structure(Structure(ConfigOf(request), "StrategyConfig"), "HyperbandStrategyConfig");
  definition.min_resource = GetInt(given, "MinResource", 1);
  const auto largest =
      given.contains("MaxResource") ? FindInt(given, "MaxResource") : StaticEpochs(source);
  if (!largest) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "MaxResource of HyperbandStrategyConfig is missing, and cannot be inferred: none of "
        "the StaticHyperParameters {} is given",
        fmt::join(kEpochParameters, ", "));
  }
  definition.max_resource = *largest;
  const auto made = tuner::Hyperband::Create(
      definition.space,
      {.min_resource = definition.min_resource, .max_resource = definition.max_resource});
  if (!made) return Wrap(made.error(), "HyperbandStrategyConfig: ");
  return {};
}

Result<Definition> ReadDefinition(const json::object& request, const json::object& source,
                                  StrategyKind strategy) {
  const json::object& config = ConfigOf(request);
  const json::object* own_ranges = FindObject(source, "HyperParameterRanges");
  const json::object* own_objective = FindObject(source, "TuningObjective");
  const json::object& objective = own_objective != nullptr
                                      ? *own_objective
                                      : Structure(config, "HyperParameterTuningJobObjective");
  const std::string metric = GetString(objective, "MetricName");
  if (metric.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "A metric is required for this hyperparameter tuning job objective. Provide a "
                "metric in the metric definitions.");
  }
  const json::object& ranges =
      own_ranges != nullptr ? *own_ranges : Structure(config, "ParameterRanges");
  ASSIGN_OR_RETURN(tuner::Space space, tuner::Space::Create(RangesOf(ranges)));
  Definition definition{.name = GetString(source, "DefinitionName"),
                        .metric = metric,
                        .goal = GetString(objective, "Type") == "Maximize" ? tuner::Goal::kMaximize
                                                                           : tuner::Goal::kMinimize,
                        .space = std::move(space),
                        .training = TrainingRequestOf(source, metric)};
  if (strategy == StrategyKind::kHyperband) {
    RETURN_IF_ERROR(ReadResources(request, source, definition));
  }
  return definition;
}

Status ReadDefinitions(const json::object& request, Settings& settings) {
  for (const json::object* source : DefinitionsOf(request)) {
    auto definition = ReadDefinition(request, *source, settings.strategy);
    const std::string name = GetString(*source, "DefinitionName");
    if (!definition && !name.empty()) {
      return Wrap(definition.error(), fmt::format("training job definition '{}': ", name));
    }
    if (!definition) return tl::make_unexpected(definition.error());
    if (settings.Find(name) != nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  "DefinitionName must be given and be unique, and '{}' is there twice", name);
    }
    settings.definitions.push_back(std::move(*definition));
  }
  if (settings.definitions.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "TrainingJobDefinition or TrainingJobDefinitions must be given");
  }
  for (const Definition& definition : settings.definitions) {
    if (definition.goal == settings.goal()) continue;
    return Fail(
        ErrorCode::kInvalidArgument,
        "training job definition '{}' is to be maximized and '{}' to be minimized: the "
        "objectives of one tuning job must have one Type",
        (definition.goal == tuner::Goal::kMaximize ? definition : settings.definitions.front())
            .name,
        (definition.goal == tuner::Goal::kMaximize ? settings.definitions.front() : definition)
            .name);
  }
  return {};
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
Status ReadTrials(const json::object& limits, Settings& settings) {
  settings.trials_max =
      static_cast<int>(GetInt(limits, "MaxNumberOfTrainingJobs", std::int64_t{kTrialsMax}));
  if (settings.strategy != StrategyKind::kGrid) return {};
  std::uint64_t size = 0;
  for (const Definition& definition : settings.definitions) {
    ASSIGN_OR_RETURN(const tuner::GridSearch grid, tuner::GridSearch::Create(definition.space));
    size += grid.Count();
  }
  if (size > kTrialsMax) {
    return Fail(ErrorCode::kInvalidArgument,
                "the grids of all training job definitions have {} configurations; at most {}",
                size, kTrialsMax);
  }
  settings.trials_max = std::min(settings.trials_max, static_cast<int>(size));
  return {};
}

}  // namespace

const Definition* Settings::Find(std::string_view definition) const {
  const auto found = std::ranges::find(definitions, definition, &Definition::name);
  return found == definitions.end() ? nullptr : &*found;
}

std::vector<const json::object*> DefinitionsOf(const json::object& request) {
  std::vector<const json::object*> out;
  if (const json::object* one = FindObject(request, "TrainingJobDefinition")) out.push_back(one);
  const json::array* several = FindArray(request, "TrainingJobDefinitions");
  if (several == nullptr) return out;
  for (const json::value& definition : *several) out.push_back(&definition.get_object());
  return out;
}

Status CompleteTuningRequest(json::object& request) {
  RETURN_IF_ERROR(ApplyAutotune(request));
  json::value& config = request["HyperParameterTuningJobConfig"];
  if (!config.is_object()) config = json::object();
  Default(config.get_object(), "TrainingJobEarlyStoppingType", "Off");
  CompleteRanges(config.get_object(), "ParameterRanges");
  if (json::value* one = request.if_contains("TrainingJobDefinition");
      one != nullptr && one->is_object()) {
    CompleteDefinition(one->get_object(), MetricOf(request, one->get_object()));
  }
  json::value* several = request.if_contains("TrainingJobDefinitions");
  if (several == nullptr || !several->is_array()) return {};
  for (json::value& definition : several->get_array()) {
    CompleteDefinition(definition.get_object(), MetricOf(request, definition.get_object()));
  }
  return {};
}

Result<Settings> ReadSettings(const json::object& request) {
  const json::object& config = ConfigOf(request);
  const json::object& limits = Structure(config, "ResourceLimits");
  Settings settings;
  settings.strategy = Lookup<StrategyKind>({{"Random", StrategyKind::kRandom},
                                            {"Grid", StrategyKind::kGrid},
                                            {"Hyperband", StrategyKind::kHyperband}},
                                           GetString(config, "Strategy"), StrategyKind::kBayesian);
  settings.median_rule = GetString(config, "TrainingJobEarlyStoppingType") == "Auto";
  if (settings.median_rule && settings.strategy == StrategyKind::kHyperband) {
    return Fail(ErrorCode::kInvalidArgument,
                "TrainingJobEarlyStoppingType must be Off with the Hyperband strategy, which stops "
                "training jobs itself");
  }
  RETURN_IF_ERROR(ReadDefinitions(request, settings));
  settings.parallel_max = static_cast<int>(GetInt(limits, "MaxParallelTrainingJobs", 1));
  RETURN_IF_ERROR(ReadTrials(limits, settings));
  if (const auto seconds = FindInt(limits, "MaxRuntimeInSeconds")) {
    settings.runtime_max = Seconds(*seconds);
  }
  ReadCriteria(config, settings);
  settings.identical_parents = GetString(Structure(request, "WarmStartConfig"), "WarmStartType") ==
                               "IdenticalDataAndAlgorithm";
  return settings;
}

}  // namespace sabia::tuning
