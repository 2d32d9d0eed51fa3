// What the agents' reports mean for the job: how far each host is, how it ended, and the job record
// caught up with it.
//
// The job is as far as its slowest host. Times of transitions are the agents' own, so that a daemon
// that was away for an hour writes the same history as one that watched. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/training_snapshot.h"

namespace sabia::plan {

// Whether the host has begun this phase or a later one of downloading, training, exiting.
bool Trained(const InstanceView& host);  // the program was started
bool Exited(const InstanceView& host);   // the program ended, or never will start
bool Done(const InstanceView& host);     // final report
// Nothing of it runs any more: final report, dead agent, or never started and never to be.
bool Ended(const InstanceView& host, const TrainingRules& rules);
// The agent died without a final report, or cannot be started.
bool Lost(const InstanceView& host, const TrainingRules& rules);
// The program ended well and by itself.
bool Succeeded(const InstanceView& host);
// The program failed by itself, or the agent could not do its work.
bool Failed(const InstanceView& host);

// The last checkpoint that is in S3 from every host that saves any; nothing while none does.
std::optional<WallTime> LastSaved(const std::vector<InstanceView>& hosts);

WallTime EndOf(const InstanceView& host, WallTime otherwise);

// Moves the job to the phase; over no edge of the table it stays, and the record says so in
// `illegal`.
void Advance(Record& record, model::TrainingPhase to);

// Takes the job from launching up to uploading as far as the reports go, each transition at its
// time.
void CatchUp(Record& record, const std::vector<InstanceView>& hosts);
// Final metrics (last value by time over all hosts) and notes.
void CollectResults(model::TrainingJob& job, const std::vector<InstanceView>& hosts);

// The failed host that failed first; null when none did.
const InstanceView* FirstFailure(const std::vector<InstanceView>& hosts);
// The program ended badly, and not because it was told to stop.
bool ProgramFailed(const model::Report& report);
std::string FailureText(const InstanceView& host);
// Whether a retry might help (RetryStrategy): only failures that are ours.
bool FailureIsOurs(const InstanceView& host);

}  // namespace sabia::plan
