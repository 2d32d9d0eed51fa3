#include "tuning/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/completion.h"
#include "tuner/early_stopping.h"
#include "tuner/grid_search.h"
#include "tuner/random_search.h"
#include "tuning/histories.h"

namespace sabia::tuning {
namespace {

// Hyperband: a program may emit its last value and end by itself, so only one more is too many.
std::string PastMaxResource(const Definition& definition, const tuner::Trial& trial) {
  if (trial.curve.back().resource <= definition.max_resource) return "";
  return fmt::format("MaxResource {} is reached", definition.max_resource);
}

}  // namespace

struct Search::Lane {
  const Definition* definition = nullptr;
  std::unique_ptr<tuner::Strategy> strategy;
  const tuner::Hyperband* hyperband = nullptr;  // the strategy, if it is one
};

Search::Search(Search&&) noexcept = default;
Search& Search::operator=(Search&&) noexcept = default;
Search::~Search() = default;

Result<std::unique_ptr<tuner::Strategy>> Search::StrategyFor(
    const Settings& settings, const Definition& definition, const tuner::BayesianOptions& options) {
  switch (settings.strategy) {
    case StrategyKind::kRandom:
      return std::make_unique<tuner::RandomSearch>(
          definition.space, tuner::RandomSearchOptions{.seed = options.seed});
    case StrategyKind::kGrid: {
      ASSIGN_OR_RETURN(tuner::GridSearch grid, tuner::GridSearch::Create(definition.space));
      return std::make_unique<tuner::GridSearch>(std::move(grid));
    }
    case StrategyKind::kHyperband: {
      ASSIGN_OR_RETURN(
          tuner::Hyperband hyperband,
          tuner::Hyperband::Create(definition.space, {.seed = options.seed,
                                                      .goal = definition.goal,
                                                      .min_resource = definition.min_resource,
                                                      .max_resource = definition.max_resource}));
      return std::make_unique<tuner::Hyperband>(std::move(hyperband));
    }
    case StrategyKind::kBayesian:
      break;
  }
  return std::make_unique<tuner::Bayesian>(definition.space, options);
}

Result<Search> Search::Create(Settings settings, std::int64_t seed,
                              const std::vector<ParentView>& parents) {
  Search search;
  search.settings_ = std::make_unique<Settings>(std::move(settings));
  for (std::size_t i = 0; i < search.settings_->definitions.size(); ++i) {
    const Definition& definition = search.settings_->definitions[i];
    ASSIGN_OR_RETURN(auto strategy, StrategyFor(*search.settings_, definition,
                                                BayesianOptionsFor(*search.settings_, definition,
                                                                   {seed, parents, i})));
    const auto* hyperband = dynamic_cast<const tuner::Hyperband*>(strategy.get());
    search.lanes_.push_back({&definition, std::move(strategy), hyperband});
  }
  search.FindBestOfParents(parents);
  return search;
}

void Search::FindBestOfParents(const std::vector<ParentView>& parents) {
  if (!settings_->identical_parents) return;
  const bool minimize = settings_->goal() == tuner::Goal::kMinimize;
  for (const ParentView& parent : parents) {
    for (const model::TuningTrial& trial : parent.trials) {
      if (trial.objective_status != model::ObjectiveStatus::kSucceeded) continue;
      const double value = *trial.objective;
      if (best_of_parents_ &&
          (minimize ? value >= best_of_parents_->value : value <= best_of_parents_->value)) {
        continue;
      }
      best_of_parents_ = model::TuningBest{trial.training_job, parent.tuning_job, trial.definition,
                                           settings_->definitions.front().metric, value};
    }
  }
}

std::optional<Proposal> Search::Suggest(const std::vector<TrialView>& trials) {
  std::vector<History> histories;
  std::vector<std::size_t> order;
  for (const Lane& lane : lanes_) {
    order.push_back(order.size());
    histories.push_back(HistoryOf(*lane.definition, trials));
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return histories[i].finished.size() + histories[i].pending.size();
  });
  for (const std::size_t i : order) {
    const tuner::Trials known{histories[i].finished, histories[i].pending};
    if (auto suggestion = lanes_[i].strategy->Suggest(known)) {
      return Proposal{lanes_[i].definition, std::move(*suggestion)};
    }
  }
  return {};
}

// The other trials of a definition, and which of them a running one is.
struct Search::JudgedWith {
  History history;
  std::vector<tuner::Trial> all;
  std::int64_t number = 0;
};

Verdict Search::JudgeOne(const Lane& lane, const TrialView& running,
                         const JudgedWith& others) const {
  const auto& curve = running.training->curve;
  std::size_t from = std::max(running.judged, curve.size() - std::min(curve.size(), kJudgedMax));
  tuner::Trial trial{.number = others.number};
  for (std::size_t i = 0; i < from; ++i) {
    trial.curve.push_back({curve[i].resource, curve[i].value});
  }
  for (; from < curve.size(); ++from) {
    trial.curve.push_back({curve[from].resource, curve[from].value});
    if (lane.hyperband != nullptr) {
      if (std::string past = PastMaxResource(*lane.definition, trial); !past.empty()) {
        return {model::TrialStop::kHyperband, std::move(past)};
      }
      if (lane.hyperband->Judge(trial, others.all) == tuner::Verdict::kStop) {
        return {model::TrialStop::kHyperband,
                fmt::format("not among the best at resource {}", trial.curve.back().resource)};
      }
      continue;
    }
    const auto stop =
        tuner::MedianRule(trial, others.history.finished, {.goal = lane.definition->goal});
    if (!stop) continue;
    return {model::TrialStop::kMedianRule,
            fmt::format("value {} at epoch {} is worse than the median {} of earlier trials",
                        stop->value, stop->resource, stop->median)};
  }
  return {};
}

std::vector<std::pair<std::size_t, Verdict>> Search::Judge(
    const std::vector<TrialView>& trials) const {
  std::vector<std::pair<std::size_t, Verdict>> out;
  if (!settings_->WatchesCurves()) return out;
  for (const Lane& lane : lanes_) {
    std::optional<JudgedWith> others;  // made when it is needed: it holds every curve
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const TrialView& view = trials[i];
      if (view.trial.ended() || view.trial.definition != lane.definition->name) continue;
      if (!view.training || view.judged >= view.training->curve.size()) continue;
      if (!others) {
        others.emplace();
        others->history = HistoryOf(*lane.definition, trials);
        others->all = others->history.finished;
        others->all.insert(others->all.end(), others->history.pending.begin(),
                           others->history.pending.end());
      }
      others->number = NumberWithin(view.trial, trials);
      Verdict verdict = JudgeOne(lane, view, *others);
      if (verdict.stop != model::TrialStop::kNone) out.emplace_back(i, std::move(verdict));
    }
  }
  return out;
}

}  // namespace sabia::tuning
