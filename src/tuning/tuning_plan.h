// The next step of a tuning job.
//
// At most one: the controller commits it, observes, and asks again. The answer depends on the
// snapshot and the search only, and asking twice gives the same answer. A trial and its training
// job come in one step, so that a trial is never tried twice and no training job is forgotten.
// Phases change along model::kTuningEdges only, and none is terminal while a training job runs.
//
// Time: as Search. Not here: performing a step (control/tuning_worker.h).
#pragma once

#include <optional>

#include "tuning/search.h"

namespace sabia::tuning {

// AWS: so many trials without one success end a tuning job.
inline constexpr int kFailedTrialsMax = 5;

// search: null when the snapshot says that the job is broken.
std::optional<TuningStep> NextStep(const TuningSnapshot& seen, Search* search);

// Whether the search has judged every measurement when this was its answer.
bool JudgedAll(const std::optional<TuningStep>& step);

// When to ask again although nothing was heard of: the end of the run time, new measurements, and a
// look now and then, should an event have been lost. Nothing for a job that has ended.
std::optional<WallTime> NextDue(const TuningSnapshot& seen, const Search* search);

}  // namespace sabia::tuning
