// One look at one tuning job: read what is stale, observe its training jobs, plan, commit, until
// nothing is left to do.
//
// A step is one commit, by compare-and-set on the tuning job: the suggestion, its trial and its
// training job come into being together or not at all. So Run() may be repeated at any time and
// after any crash; what was suggested but not committed is suggested again, the same. A commit that
// lost the race (kConflict) leads to reading again.
//
// Threading: thread-safe; a TuningWork belongs to one Run() at a time. Blocks on the store, and
// for as long as the search thinks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/tuning_ports.h"
#include "model/instance_catalog.h"
#include "tuning/tuning_plan.h"

namespace sabia::control {

// What is known of a tuning job between two looks.
struct TuningWork {
  std::string name;
  bool stale_record = true;       // read it again
  bool stale_trials = true;       // look at all training jobs that run
  std::set<std::string> changed;  // or at these only
  bool trials_known = false;  // trials and parents were read once; after that only we change them

  std::int64_t revision = 0;  // 0: no such record
  tuning::TuningSnapshot seen;
  std::vector<std::int64_t> trial_revisions;  // as seen.trials
  std::optional<tuning::Search> search;

  // Results of the last Run.
  std::optional<WallTime> due;  // look again then
  bool gone = false;            // nothing is left to do, ever
};

struct TuningWorkerSettings {
  // After a commit that failed for want of the disk or the store.
  Millis retry_after{1'000};
};

class TuningWorker {
 public:
  TuningWorker(const TuningPorts& ports, const TuningWorkerSettings& settings)
      : ports_(ports), settings_(settings), catalog_(model::InstanceCatalog::BuiltIn()) {}

  void Run(TuningWork& work);

 private:
  Status Read(TuningWork& work);
  Status ReadTrials(TuningWork& work);
  void MakeSearch(TuningWork& work, const std::vector<tuning::ParentView>& parents);
  Result<std::vector<tuning::ParentView>> ReadParents(const model::TuningJob& job);
  Status Observe(TuningWork& work);
  Status ObserveOne(const TuningWork& work, tuning::TrialView& view);
  Result<std::vector<store::Change>> ChangesOf(const TuningWork& work,
                                               const tuning::TuningStep& step);
  Result<store::Change> StopOf(const std::string& training_job);
  Status Perform(TuningWork& work, tuning::TuningStep step);
  // Whether to go on after a step that failed.
  bool GoesOn(TuningWork& work, const Error& error, bool created);

  const TuningPorts ports_;
  const TuningWorkerSettings settings_;
  const model::InstanceCatalog catalog_;
};

}  // namespace sabia::control
