#include "api/tuning_autotune.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "model/images.h"
#include "model/instance_catalog.h"
#include "model/tuning_request.h"
#include "tuner/parameter_ranges.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

// Trials per tuned hyperparameter, within bounds.
constexpr std::int64_t kTrialsPerParameter = 10;
constexpr std::int64_t kTrialsMin = 20;
constexpr std::int64_t kTrialsMax = 100;
constexpr std::int64_t kRetries = 3;
// A range goes this factor up and down from the hint.
constexpr double kAroundHint = 10;
constexpr double kRounding = 1e-9;

struct Recommended {
  std::string_view name;
  bool integer;
  double min;
  double max;
};
// Source: "Tunable XGBoost hyperparameters" of the SageMaker guide; max_depth 0 means no limit,
// which not every tree method takes, so the range begins at 1.
constexpr std::array kXgboost = {
    Recommended{"alpha", false, 0, 1000},
    Recommended{"colsample_bylevel", false, 0.1, 1},
    Recommended{"colsample_bynode", false, 0.1, 1},
    Recommended{"colsample_bytree", false, 0.5, 1},
    Recommended{"eta", false, 0.1, 0.5},
    Recommended{"gamma", false, 0, 5},
    Recommended{"lambda", false, 0, 1000},
    Recommended{"max_delta_step", true, 0, 10},
    Recommended{"max_depth", true, 1, 10},
    Recommended{"min_child_weight", false, 0, 120},
    Recommended{"num_round", true, 1, 4000},
    Recommended{"subsample", false, 0.5, 1},
};
// How long a training is depends on the data: the hint knows better than a table.
constexpr std::string_view kXgboostLength = "num_round";

const Recommended* FindRecommended(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kXgboost, [&](const Recommended& r) { return r.name == name; });
  return found == kXgboost.end() ? nullptr : found;
}

std::string Print(double value, bool integer) {
  if (integer) return fmt::format("{}", static_cast<std::int64_t>(value));
  return tuner::PrintContinuous(value);
}

struct Chosen {
  bool integer = false;
  double min = 0;
  double max = 0;
  const char* scaling = "Auto";
};

Chosen AroundInteger(double hint) {
  if (hint == 0) return {true, 0, kAroundHint};
  if (hint < 0) return {true, hint * kAroundHint, 0};
  return {true, std::max(1.0, std::floor(hint / kAroundHint)), hint * kAroundHint, "Logarithmic"};
}

Chosen AroundReal(double hint) {
  if (hint == 0) return {false, 0, 1};
  if (hint < 0) return {false, hint * kAroundHint, hint / kAroundHint};
  // Shares near 1, such as a momentum, matter by their distance from 1.
  if (hint > 0.5 && hint < 1) {
    const double min = 1 - (1 - hint) * kAroundHint;
    return {false, min < kRounding ? 0 : min, 1 - (1 - hint) / kAroundHint, "ReverseLogarithmic"};
  }
  const double max = hint * kAroundHint;
  return {false, hint / kAroundHint, hint < 1 ? std::min(1.0, max) : max, "Logarithmic"};
}

template <typename T>
std::optional<T> ReadAll(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<Chosen> AroundHint(std::string_view hint) {
  if (const auto integer = ReadAll<std::int64_t>(hint);
      integer && std::abs(static_cast<double>(*integer)) < 0x1p49) {
    return AroundInteger(static_cast<double>(*integer));
  }
  const auto real = ReadAll<double>(hint);
  if (real && std::isfinite(*real * kAroundHint)) return AroundReal(*real);
  return {};
}

bool IsBoolean(std::string_view hint) {
  return hint == "true" || hint == "false" || hint == "True" || hint == "False";
}

// Ranges and constants of one definition as they are chosen.
class Choice {
 public:
  Choice(json::object& ranges, json::object& fixed, bool xgboost)
      : ranges_(ranges), fixed_(fixed), xgboost_(xgboost) {
    for (const tuner::ParameterRange& range : tuner::ReadRanges(ranges)) Took(range.name);
  }

  void ByHint(const std::string& name, const std::string& hint) {
    if (Has(name)) return;
    Took(name);
    const Recommended* known = xgboost_ ? FindRecommended(name) : nullptr;
    // What SDKs set for themselves is nothing to tune, and neither is what the algorithm's guide
    // does not name as tunable.
    if (name.starts_with("sagemaker_") || (xgboost_ && known == nullptr)) return Keep(name, hint);
    if (IsBoolean(hint)) return AddBoolean(name, hint);
    auto chosen = AroundHint(hint);
    if (!chosen) return Keep(name, hint);
    if (known != nullptr && name != kXgboostLength) {
      const double value = *ReadAll<double>(hint);
      chosen = Chosen{known->integer, std::min(known->min, value), std::max(known->max, value)};
    }
    Add(name, *chosen);
  }

  void ByTable() {
    for (const Recommended& known : kXgboost) {
      const std::string name(known.name);
      if (Has(name) || fixed_.contains(name)) continue;
      Took(name);
      Add(name, {known.integer, known.min, known.max});
    }
  }

  std::size_t size() const { return taken_.size() - kept_; }

 private:
  bool Has(std::string_view name) const { return std::ranges::find(taken_, name) != taken_.end(); }
  void Took(std::string name) { taken_.push_back(std::move(name)); }

  void Keep(const std::string& name, const std::string& hint) {
    ++kept_;
    if (!fixed_.contains(name)) fixed_[name] = hint;
  }

  void Add(const std::string& name, const Chosen& chosen) {
    List(chosen.integer ? "IntegerParameterRanges" : "ContinuousParameterRanges")
        .push_back({{"Name", name},
                    {"MinValue", Print(chosen.min, chosen.integer)},
                    {"MaxValue", Print(chosen.max, chosen.integer)},
                    {"ScalingType", chosen.scaling}});
  }

  void AddBoolean(const std::string& name, std::string_view hint) {
    const bool capital = hint.front() == 'T' || hint.front() == 'F';
    List("CategoricalParameterRanges")
        .push_back(
            {{"Name", name},
             {"Values", capital ? json::array{"True", "False"} : json::array{"true", "false"}}});
  }

  json::array& List(const char* name) {
    json::value& list = ranges_[name];
    if (!list.is_array()) list = json::array();
    return list.get_array();
  }

  json::object& ranges_;
  json::object& fixed_;
  const bool xgboost_;
  std::vector<std::string> taken_;
  std::size_t kept_ = 0;
};

json::object& Structure(json::object& object, std::string_view key) {
  json::value& slot = object[key];
  if (!slot.is_object()) slot = json::object();
  return slot.get_object();
}

bool IsXgboost(const json::object& definition) {
  json::object training = definition;
  training["HyperParameters"] = definition.contains("StaticHyperParameters")
                                    ? definition.at("StaticHyperParameters")
                                    : json::value(json::object());
  const auto image = model::ResolveTrainingImage(training);
  return image && *image == model::ImageKind::kXgboost;
}

// The number of hyperparameters that are tuned then.
AwsResult<std::size_t> ChooseRanges(json::object& definition, json::object& ranges,
                                    const std::string& path) {
  json::object& fixed = Structure(definition, "StaticHyperParameters");
  const bool xgboost = IsXgboost(definition);
  Choice choice(ranges, fixed, xgboost);
  const json::array* hints = FindArray(ranges, "AutoParameters");
  const bool hinted = hints != nullptr && !hints->empty();
  if (hinted) {
    const json::array copy = *hints;  // adding lists may move it
    for (const json::value& hint : copy) {
      choice.ByHint(GetString(hint.get_object(), "Name"),
                    GetString(hint.get_object(), "ValueHint"));
    }
  }
  if (choice.size() == 0 && xgboost) choice.ByTable();
  if (choice.size() > 0) return choice.size();
  return RefuseValidation(
      "Autotune finds nothing to tune in {}: only the built-in XGBoost has ranges of its own. Give "
      "ParameterRanges, or AutoParameters whose ValueHint is a number, true or false",
      path);
}

}  // namespace

AwsResult<void> ApplyAutotune(json::object& request) {
  if (!request.contains("Autotune")) return {};
  json::object& config = Structure(request, "HyperParameterTuningJobConfig");
  std::size_t tuned = 0;
  std::size_t definitions = 1;
  if (json::value* one = request.if_contains("TrainingJobDefinition"); one != nullptr) {
    json::object& definition = one->get_object();
    json::object& ranges = definition.contains("HyperParameterRanges")
                               ? Structure(definition, "HyperParameterRanges")
                               : Structure(config, "ParameterRanges");
    ASSIGN_OR_RETURN(tuned, ChooseRanges(definition, ranges, "TrainingJobDefinition"));
    if (!definition.contains("RetryStrategy")) {
      definition["RetryStrategy"] = {{"MaximumRetryAttempts", kRetries}};
    }
  } else {
    definitions = 0;
    for (json::value& value : request["TrainingJobDefinitions"].get_array()) {
      json::object& definition = value.get_object();
      ASSIGN_OR_RETURN(const std::size_t count,
                       ChooseRanges(definition, Structure(definition, "HyperParameterRanges"),
                                    fmt::format("TrainingJobDefinitions[{}]", ++definitions)));
      tuned += count;
      if (!definition.contains("RetryStrategy")) {
        definition["RetryStrategy"] = {{"MaximumRetryAttempts", kRetries}};
      }
    }
  }
  const std::string strategy = GetString(config, "Strategy");
  json::object& limits = Structure(config, "ResourceLimits");
  if (!limits.contains("MaxNumberOfTrainingJobs") && strategy != "Grid") {
    limits["MaxNumberOfTrainingJobs"] =
        std::clamp(kTrialsPerParameter * static_cast<std::int64_t>(tuned), kTrialsMin, kTrialsMax);
  }
  if (!config.contains("TrainingJobEarlyStoppingType")) {
    config["TrainingJobEarlyStoppingType"] =
        strategy == "Hyperband" || definitions > 1 ? "Off" : "Auto";
  }
  json::object& criteria = Structure(config, "TuningJobCompletionCriteria");
  if (!criteria.contains("ConvergenceDetected")) {
    criteria["ConvergenceDetected"] = {{"CompleteOnConvergence", "Enabled"}};
  }
  return {};
}

}  // namespace sabia::api
