// The next step of a training job.
//
// At most one action: the controller performs it, observes, and asks again. The answer depends on
// the snapshot and the rules only, and asking twice gives the same answer. Every status change that
// a Record carries is one of model::kTrainingEdges, and its times are those of the agents' reports
// where they tell them.
//
// Not here: which job gets capacity first (fleet/capacity.h); how a step is performed (control/).
#pragma once

#include <optional>

#include "plan/training_snapshot.h"

namespace sabia::plan {

std::optional<Action> NextStep(const TrainingSnapshot& seen, const TrainingRules& rules);

// Whether a queued job wants its instances now: the market has its capacity, and its policy does
// not wait.
bool WantsInstances(const TrainingSnapshot& seen);
// What a queued job that does not want them waits for.
std::string WhatItWaitsFor(const TrainingSnapshot& seen);

// When to ask again although nothing happened: the next deadline after `seen.now`. That a job has
// to say that it waits counts only when the capacity was asked.
std::optional<WallTime> NextDue(const TrainingSnapshot& seen, const TrainingRules& rules);

// What is left of MaxRuntimeInSeconds for the next attempt; nothing when there is no limit.
std::optional<Millis> RunTimeLeft(const model::TrainingJob& job);

}  // namespace sabia::plan
