#include "tuning/autotune.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "model/images.h"
#include "tuner/space.h"
#include "tuning/settings.h"
#include "tuning/training_request.h"

namespace sabia::tuning {
namespace {

constexpr int kRetries = 3;
constexpr double kHintFactor = 10;

struct KnownRange {
  std::string_view name;
  bool integer = false;
  std::string_view min;
  std::string_view max;
};

// The ranges that AWS recommends for tuning XGBoost.
constexpr std::array kXgboostRanges = {KnownRange{"alpha", false, "0", "1000"},
                                       KnownRange{"colsample_bylevel", false, "0.1", "1"},
                                       KnownRange{"colsample_bynode", false, "0.1", "1"},
                                       KnownRange{"colsample_bytree", false, "0.5", "1"},
                                       KnownRange{"eta", false, "0.1", "0.5"},
                                       KnownRange{"gamma", false, "0", "5"},
                                       KnownRange{"lambda", false, "0", "1000"},
                                       KnownRange{"max_delta_step", true, "0", "10"},
                                       KnownRange{"max_depth", true, "0", "10"},
                                       KnownRange{"min_child_weight", false, "0", "120"},
                                       KnownRange{"num_round", true, "1", "4000"},
                                       KnownRange{"subsample", false, "0.5", "1"}};

const KnownRange* FindKnown(std::string_view name) {
  const auto* found = std::ranges::find(kXgboostRanges, name, &KnownRange::name);
  return found == kXgboostRanges.end() ? nullptr : found;
}

void Default(json::object& object, std::string_view key, json::value value) {
  json::value& slot = object[key];
  if (slot.is_null()) slot = std::move(value);
}

json::object& Structure(json::object& object, std::string_view key) {
  json::value& slot = object[key];
  if (!slot.is_object()) slot = json::object();
  return slot.get_object();
}

void AddRange(json::object& ranges, const KnownRange& range, std::string_view scaling) {
  json::value& slot =
      ranges[range.integer ? "IntegerParameterRanges" : "ContinuousParameterRanges"];
  if (!slot.is_array()) slot = json::array();
  slot.get_array().push_back(json::object{{"Name", range.name},
                                          {"MinValue", range.min},
                                          {"MaxValue", range.max},
                                          {"ScalingType", scaling}});
}

std::optional<double> NumberOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (!std::isfinite(value)) return {};
  return value;
}

Status AddHinted(json::object& ranges, const json::object& parameter) {
  const std::string name = GetString(parameter, "Name");
  const std::string hint = GetString(parameter, "ValueHint");
  const auto value = NumberOf(hint);
  if (!value || *value < 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "AutoParameters: the ValueHint of '{}' is '{}'; it must be a number that is not "
                "negative. Give a range for other parameters",
                name, hint);
  }
  const bool integer = hint.find_first_not_of("0123456789") == std::string::npos;
  std::string min = "0";
  std::string max = integer ? "10" : "1.0";
  if (integer && *value > 0) {
    min = fmt::format("{:.0f}", std::max(1.0, std::floor(*value / kHintFactor)));
    max = fmt::format("{:.0f}", *value * kHintFactor);
  } else if (*value > 0) {
    const double most = *value < 1 ? std::min(1.0, *value * kHintFactor) : *value * kHintFactor;
    min = tuner::PrintContinuous(*value / kHintFactor);
    max = tuner::PrintContinuous(most);
  }
  AddRange(ranges, {name, integer, min, max}, *value > 0 ? "Logarithmic" : "Linear");
  return {};
}

bool HasRanges(const json::object& ranges) {
  return std::ranges::any_of(ranges, [](const auto& member) {
    const json::array* list = member.value().if_array();
    return list != nullptr && !list->empty();
  });
}

Status ChooseRanges(json::object& ranges, const json::object& definition) {
  const auto image = model::ResolveTrainingImage(TrainingRequestOf(definition, ""));
  const bool xgboost = image && *image == model::ImageKind::kXgboost;
  const json::object* fixed = FindObject(definition, "StaticHyperParameters");
  if (xgboost && !HasRanges(ranges)) {
    for (const KnownRange& range : kXgboostRanges) {
      if (fixed == nullptr || !fixed->contains(range.name)) AddRange(ranges, range, "Auto");
    }
  }
  const json::array* hinted = FindArray(ranges, "AutoParameters");
  if (hinted == nullptr) return {};
  const json::array parameters = *hinted;
  ranges.erase("AutoParameters");
  for (const json::value& parameter : parameters) {
    const KnownRange* known = FindKnown(GetString(parameter.get_object(), "Name"));
    if (xgboost && known != nullptr) {
      AddRange(ranges, *known, "Auto");
    } else {
      RETURN_IF_ERROR(AddHinted(ranges, parameter.get_object()));
    }
  }
  return {};
}

Status RefuseHints(const json::object* ranges) {
  const json::array* hinted = ranges == nullptr ? nullptr : FindArray(*ranges, "AutoParameters");
  if (hinted == nullptr || hinted->empty()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "AutoParameters: '{}' has a hint and no range, which only Autotune can use. Set "
              "Autotune.Mode to Enabled, or give ranges",
              GetString(hinted->front().get_object(), "Name"));
}

Status RefuseAllHints(const json::object& request) {
  const json::object* config = FindObject(request, "HyperParameterTuningJobConfig");
  if (config != nullptr) RETURN_IF_ERROR(RefuseHints(FindObject(*config, "ParameterRanges")));
  for (const json::object* definition : DefinitionsOf(request)) {
    RETURN_IF_ERROR(RefuseHints(FindObject(*definition, "HyperParameterRanges")));
  }
  return {};
}

Status TuneDefinition(json::object& definition, json::object& ranges) {
  RETURN_IF_ERROR(ChooseRanges(ranges, definition));
  Default(definition, "RetryStrategy", json::object{{"MaximumRetryAttempts", kRetries}});
  return {};
}

}  // namespace

bool AutotuneEnabled(const json::object& request) {
  const json::object* autotune = FindObject(request, "Autotune");
  return autotune != nullptr && GetString(*autotune, "Mode") == "Enabled";
}

Status ApplyAutotune(json::object& request) {
  if (!AutotuneEnabled(request)) return RefuseAllHints(request);
  json::object& config = Structure(request, "HyperParameterTuningJobConfig");
  const bool hyperband = GetString(config, "Strategy") == "Hyperband";
  Default(config, "TrainingJobEarlyStoppingType", hyperband ? "Off" : "Auto");
  Default(config, "TuningJobCompletionCriteria",
          json::object{{"ConvergenceDetected", {{"CompleteOnConvergence", "Enabled"}}}});
  if (json::value* definition = request.if_contains("TrainingJobDefinition");
      definition != nullptr && definition->is_object()) {
    RETURN_IF_ERROR(TuneDefinition(definition->get_object(), Structure(config, "ParameterRanges")));
  }
  json::value* definitions = request.if_contains("TrainingJobDefinitions");
  if (definitions == nullptr || !definitions->is_array()) return {};
  for (json::value& item : definitions->get_array()) {
    json::object& definition = item.get_object();
    json::object ranges;
    if (const json::object* given = FindObject(definition, "HyperParameterRanges")) ranges = *given;
    RETURN_IF_ERROR(TuneDefinition(definition, ranges));
    definition["HyperParameterRanges"] = std::move(ranges);
  }
  return {};
}

}  // namespace sabia::tuning
