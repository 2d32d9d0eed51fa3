// How a job leaves its running phases: stopped, failed, interrupted, completed; each as one Record.
//
// Where every instance has ended already, the beginning and the end of a way out go into the same
// Record. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/training_snapshot.h"

namespace sabia::plan {

struct Question {
  const TrainingSnapshot& seen;
  const TrainingRules& rules;
};

// For jobs without instances. kNone as the reason stands for MaxPendingTimeInSeconds.
Record StopQueued(const TrainingSnapshot& seen, model::StopReason reason);
Record FailQueued(const TrainingSnapshot& seen, std::string reason);

// `record` holds the job caught up with the reports.
Record BeginStopping(const Question& question, Record record, model::StopReason reason,
                     WallTime since);
Record BeginFailing(const Question& question, Record record, const InstanceView& host);
Record BeginInterrupting(const Question& question, Record record);
// Leaves the capacity for what the deadline policy advises; checkpoints are flushed as before a
// reclaim.
Record BeginMoving(const Question& question, Record record);
// Spot jobs, and jobs whose program had not begun, get new capacity; others fail.
Record BeginLoss(const Question& question, Record record, const InstanceView& lost);

// REQUIRES: all instances have ended.
Record Complete(const TrainingSnapshot& seen, Record record);
Record FinishStopping(const TrainingSnapshot& seen, Record record);
Record FinishFailing(const TrainingSnapshot& seen, Record record);  // or a retry
Record Requeue(const TrainingSnapshot& seen, std::string_view end_reason);

void AddNotes(model::TrainingJob& job, const std::vector<std::string>& notes);

}  // namespace sabia::plan
