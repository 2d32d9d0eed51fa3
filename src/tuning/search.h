// The search of one tuning job: which configuration its next trial has, and which running trials
// are not worth going on with.
//
// Several definitions share the trials: the next one goes to the definition that has had the
// fewest, each searches its own space by its own trials. A search made anew says what the old one
// would have said: suggestions depend on seed, trials and parents alone.
//
// Threading: thread-compatible. Time: as the strategies (tuner/), up to seconds with thousands of
// trials.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/explain.h"
#include "tuner/hyperband.h"
#include "tuning/settings.h"
#include "tuning/tuning_snapshot.h"

namespace sabia::tuning {

struct Proposal {
  const Definition* definition = nullptr;  // of the search's settings
  tuner::Suggestion suggestion;
};

// Why a running trial should be stopped.
struct Verdict {
  model::TrialStop stop = model::TrialStop::kNone;
  std::string note;
};

class Search {
 public:
  static Result<Search> Create(Settings settings, std::int64_t seed,
                               const std::vector<ParentView>& parents);
  Search(Search&&) noexcept;
  Search& operator=(Search&&) noexcept;
  ~Search();

  const Settings& settings() const { return *settings_; }

  // Nothing when every space is exhausted, or when nothing can be said before a trial ends.
  std::optional<Proposal> Suggest(const std::vector<TrialView>& trials);

  // Which running trials should be stopped, by their places in the list, and why. Looks at the
  // measurements of each that the rules have not seen yet, of the latest kJudgedMax at most.
  static constexpr std::size_t kJudgedMax = 256;
  std::vector<std::pair<std::size_t, Verdict>> Judge(const std::vector<TrialView>& trials) const;

  // The best trial of the parents, with IdenticalDataAndAlgorithm.
  const std::optional<model::TuningBest>& best_of_parents() const { return best_of_parents_; }

 private:
  struct Lane;
  struct JudgedWith;
  Search() = default;
  static Result<std::unique_ptr<tuner::Strategy>> StrategyFor(
      const Settings& settings, const Definition& definition,
      const tuner::BayesianOptions& options);
  Verdict JudgeOne(const Lane& lane, const TrialView& running, const JudgedWith& others) const;
  void FindBestOfParents(const std::vector<ParentView>& parents);

  std::unique_ptr<Settings> settings_;  // definitions are pointed at
  std::vector<Lane> lanes_;             // one per definition
  std::optional<model::TuningBest> best_of_parents_;
};

// The trials of a definition as its strategy sees them: those that have ended in the order of their
// results, then those that run. Numbers count the trials of the definition from 0.
struct History {
  std::vector<tuner::Trial> finished;
  std::vector<tuner::Trial> pending;
};
History HistoryOf(const Definition& definition, const std::vector<TrialView>& trials);

// All trials that have ended in the order of their results, without their configurations: for the
// completion criteria.
std::vector<tuner::Trial> Outcomes(const std::vector<TrialView>& trials);

// At most kCurvePointsMax of the measurements, the last one among them.
std::vector<model::TrialMeasurement> Thinned(std::vector<model::TrialMeasurement> curve);

}  // namespace sabia::tuning
