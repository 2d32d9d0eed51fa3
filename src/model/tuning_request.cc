#include "model/tuning_request.h"

#include <array>

namespace sabia::model {
namespace {

// In the order in which AWS names them.
constexpr std::array kResourceNames = {"epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs"};

TuningDefinition ReadDefinition(const json::object& definition, std::string path) {
  return {.name = GetString(definition, "DefinitionName"),
          .path = std::move(path),
          .definition = &definition,
          .objective = FindObject(definition, "TuningObjective"),
          .ranges = FindObject(definition, "HyperParameterRanges")};
}

json::object ResourcesOf(const InstanceCatalog& catalog, const json::object& tuning) {
  json::object out = tuning;
  out.erase("AllocationStrategy");
  const json::array* configs = FindArray(tuning, "InstanceConfigs");
  if (configs == nullptr || configs->empty()) return out;
  out.erase("InstanceConfigs");
  const json::object* chosen = &configs->front().get_object();
  for (const json::value& config : *configs) {
    if (catalog.Find(GetString(config.get_object(), "InstanceType")) == nullptr) continue;
    chosen = &config.get_object();
    break;
  }
  for (const auto& [key, value] : *chosen) out[key] = value;
  return out;
}

}  // namespace

std::vector<TuningDefinition> TuningDefinitionsOf(const json::object& request) {
  std::vector<TuningDefinition> out;
  if (const json::object* one = FindObject(request, "TrainingJobDefinition")) {
    TuningDefinition read = ReadDefinition(*one, "TrainingJobDefinition");
    if (const json::object* config = FindObject(request, "HyperParameterTuningJobConfig")) {
      if (read.objective == nullptr) {
        read.objective = FindObject(*config, "HyperParameterTuningJobObjective");
      }
      if (read.ranges == nullptr) read.ranges = FindObject(*config, "ParameterRanges");
    }
    out.push_back(std::move(read));
  }
  if (const json::array* several = FindArray(request, "TrainingJobDefinitions")) {
    for (std::size_t i = 0; i < several->size(); ++i) {
      out.push_back(ReadDefinition((*several)[i].get_object(),
                                   fmt::format("TrainingJobDefinitions[{}]", i + 1)));
    }
  }
  return out;
}

json::object TrainingRequestOf(const InstanceCatalog& catalog, const json::object& definition) {
  json::object out = definition;
  for (const char* member : {"DefinitionName", "TuningObjective", "HyperParameterRanges",
                             "StaticHyperParameters", "HyperParameterTuningResourceConfig"}) {
    out.erase(member);
  }
  if (json::value* algorithm = out.if_contains("AlgorithmSpecification");
      algorithm != nullptr && algorithm->is_object()) {
    json::value& series = algorithm->get_object()["EnableSageMakerMetricsTimeSeries"];
    if (series.is_null()) series = false;  // as CreateTrainingJob fills it in
  }
  const json::object* parameters = FindObject(definition, "StaticHyperParameters");
  out["HyperParameters"] = parameters == nullptr ? json::object() : *parameters;
  if (const json::object* tuning = FindObject(definition, "HyperParameterTuningResourceConfig")) {
    out["ResourceConfig"] = ResourcesOf(catalog, *tuning);
  }
  return out;
}

std::optional<InferredResource> ResourceOf(const json::object& definition) {
  const json::object* parameters = FindObject(definition, "StaticHyperParameters");
  if (parameters == nullptr) return {};
  for (const char* name : kResourceNames) {
    const auto value = FindString(*parameters, name);
    if (!value) continue;
    std::string_view text = *value;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return InferredResource{name, std::string(text)};
  }
  return {};
}

}  // namespace sabia::model
