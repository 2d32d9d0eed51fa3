#include "tuning/explain.h"

#include <algorithm>

#include "tuning/histories.h"
#include "tuning/search.h"

namespace sabia::tuning {
namespace {

tuner::Configuration ValuesOf(const tuner::Space& space, const model::TuningTrial& trial) {
  tuner::Configuration values;
  for (std::size_t i = 0; i < space.size(); ++i) {
    for (const auto& [name, value] : trial.parameters) {
      if (name == space[i].name()) values.push_back(value);
    }
  }
  return values;
}

DefinitionAccount ExplainOne(const SearchRecord& record, std::size_t index) {
  const Definition& definition = record.settings.definitions[index];
  DefinitionAccount out{.definition = &definition};
  std::vector<tuner::Configuration> configurations;
  std::vector<int> numbers;  // of the trials of this definition, by their order in it
  for (const TrialView& view : record.trials) {
    if (view.trial.definition != definition.name) continue;
    out.trials.push_back({.trial = &view.trial});
    configurations.push_back(ValuesOf(definition.space, view.trial));
    numbers.push_back(view.trial.number);
  }
  tuner::Bayesian surrogate(
      definition.space,
      BayesianOptionsFor(record.settings, definition, {record.seed, record.parents, index}));
  History history = HistoryOf(definition, record.trials);
  for (tuner::Trial& trial : history.finished) trial.failure = CauseOf(trial.failure);
  const tuner::Explanation explanation =
      tuner::Explain(surrogate, history.finished, configurations);
  for (std::size_t i = 0; i < out.trials.size(); ++i) {
    out.trials[i].expectation = explanation.expectations[i];
  }
  out.importances = explanation.importances;
  out.without_metric = explanation.without_metric;
  for (const tuner::FailureGroup& group : explanation.failures) {
    FailureAccount failure{.failure = group.failure};
    for (const std::int64_t n : group.trials) failure.trials.push_back(numbers[n]);
    out.failures.push_back(std::move(failure));
  }
  return out;
}

}  // namespace

std::string CauseOf(std::string_view failure) {
  std::string out;
  while (!failure.empty()) {
    const std::size_t end = std::min(failure.find('\n'), failure.size());
    const std::string_view line = failure.substr(0, end);
    failure.remove_prefix(std::min(end + 1, failure.size()));
    if (line.starts_with("Command \"") || line.starts_with("Log stream: ")) continue;
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

std::vector<DefinitionAccount> Explain(const SearchRecord& record) {
  std::vector<DefinitionAccount> out;
  for (std::size_t i = 0; i < record.settings.definitions.size(); ++i) {
    out.push_back(ExplainOne(record, i));
  }
  return out;
}

}  // namespace sabia::tuning
