#include "tuning/histories.h"

#include <algorithm>

namespace sabia::tuning {
namespace {

tuner::Outcome OutcomeOf(model::TrialResult result) {
  switch (result) {
    case model::TrialResult::kInProgress:
    case model::TrialResult::kCompleted:
      return tuner::Outcome::kCompleted;
    case model::TrialResult::kStopped:
      return tuner::Outcome::kStopped;
    case model::TrialResult::kRetryableError:
    case model::TrialResult::kNonRetryableError:
      return tuner::Outcome::kFailed;
  }
  return tuner::Outcome::kFailed;
}

// The texts in the order of the space; empty when one is missing: a parent may have had other
// parameters.
tuner::Configuration ValuesIn(const tuner::Space& space, const model::TuningTrial& trial) {
  tuner::Configuration values;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto found =
        std::ranges::find(trial.parameters, space[i].name(), [](const auto& p) { return p.first; });
    if (found == trial.parameters.end()) return {};
    values.push_back(found->second);
  }
  return values;
}

std::vector<tuner::Measurement> CurveOf(const std::vector<model::TrialMeasurement>& curve) {
  std::vector<tuner::Measurement> out;
  out.reserve(curve.size());
  for (const model::TrialMeasurement& m : curve) out.push_back({m.resource, m.value});
  return out;
}

tuner::Trial WithoutValues(const model::TuningTrial& trial) {
  return {.outcome = OutcomeOf(trial.result),
          .objective = trial.objective,
          .seconds = trial.seconds,
          .failure = trial.failure,
          .resource = trial.resource,
          .continues = trial.continues};
}

void SortByResult(std::vector<std::pair<int, tuner::Trial>>& trials) {
  std::ranges::sort(trials, {}, [](const auto& entry) { return entry.first; });
}

std::vector<tuner::Trial> SecondsOf(std::vector<std::pair<int, tuner::Trial>> pairs) {
  std::vector<tuner::Trial> out;
  out.reserve(pairs.size());
  for (auto& pair : pairs) out.push_back(std::move(pair.second));
  return out;
}

tuner::ParentJob ParentOf(const ParentView& parent, const Settings& settings,
                          const Definition& definition) {
  tuner::ParentJob out{.identical = settings.identical_parents};
  const bool by_name = settings.definitions.size() > 1;
  std::vector<std::pair<int, tuner::Trial>> trials;
  for (const model::TuningTrial& trial : parent.trials) {
    if (!trial.ended() || (by_name && trial.definition != definition.name)) continue;
    tuner::Trial made = WithoutValues(trial);
    made.number = trial.number - 1;
    made.values = ValuesIn(definition.space, trial);
    if (!made.values.empty()) trials.emplace_back(trial.finished, std::move(made));
  }
  SortByResult(trials);
  out.finished = SecondsOf(std::move(trials));
  return out;
}

}  // namespace

std::int64_t NumberWithin(const model::TuningTrial& trial, const std::vector<TrialView>& trials) {
  return std::ranges::count_if(trials, [&](const TrialView& other) {
    return other.trial.definition == trial.definition && other.trial.number < trial.number;
  });
}

History HistoryOf(const Definition& definition, const std::vector<TrialView>& trials) {
  History history;
  std::vector<std::pair<int, tuner::Trial>> finished;
  std::int64_t number = 0;
  for (const TrialView& view : trials) {
    if (view.trial.definition != definition.name) continue;
    tuner::Trial trial = WithoutValues(view.trial);
    trial.number = number++;
    trial.values = ValuesIn(definition.space, view.trial);
    const bool ended = view.trial.ended();
    if (ended || view.training) {
      trial.curve = CurveOf(ended ? view.trial.curve : view.training->curve);
    }
    if (ended) {
      finished.emplace_back(view.trial.finished, std::move(trial));
    } else {
      history.pending.push_back(std::move(trial));
    }
  }
  SortByResult(finished);
  history.finished = SecondsOf(std::move(finished));
  return history;
}

std::vector<tuner::Trial> Outcomes(const std::vector<TrialView>& trials) {
  std::vector<std::pair<int, tuner::Trial>> finished;
  for (const TrialView& view : trials) {
    if (!view.trial.ended()) continue;
    finished.emplace_back(view.trial.finished, WithoutValues(view.trial));
    finished.back().second.number = view.trial.number - 1;
  }
  SortByResult(finished);
  return SecondsOf(std::move(finished));
}

std::vector<model::TrialMeasurement> Thinned(std::vector<model::TrialMeasurement> curve) {
  while (curve.size() > model::kCurvePointsMax) {
    const model::TrialMeasurement last = curve.back();
    std::vector<model::TrialMeasurement> kept;
    kept.reserve(curve.size() / 2 + 1);
    // The first is kept, too: a curve begins where it began.
    for (std::size_t i = 0; i < curve.size(); i += 2) kept.push_back(curve[i]);
    if (kept.back().resource != last.resource) kept.push_back(last);
    curve = std::move(kept);
  }
  return curve;
}

tuner::BayesianOptions BayesianOptionsFor(const Settings& settings, const Definition& definition,
                                          const Origin& origin) {
  tuner::BayesianOptions options;
  options.seed = static_cast<std::uint64_t>(origin.seed) + origin.index;
  options.goal = definition.goal;
  for (const ParentView& parent : origin.parents) {
    options.parents.push_back(ParentOf(parent, settings, definition));
  }
  return options;
}

}  // namespace sabia::tuning
