// Builds snapshots of training jobs for tests: a job, its hosts, and what their agents report.
#pragma once

#include <string>
#include <vector>

#include "plan/training_plan.h"

namespace sabia::plan::testing {

inline const WallTime kCreated = FromUnixMillis(1'700'000'000'000);
inline WallTime At(int seconds) { return kCreated + Seconds(seconds); }

struct JobOptions {
  bool spot = false;
  int hosts = 1;
  int max_runtime = 3600;
  int max_wait = 0;     // 0: absent
  int max_pending = 0;  // 0: absent
  int retries = 0;
};

// Queued, created at kCreated, with its first transition.
model::TrainingJob NewJob(const JobOptions& options = {});
// The job placed at `at`, with one view per host; agents alive, no report.
TrainingSnapshot Placed(const JobOptions& options, WallTime at);

// Reports. `began` seconds are relative to kCreated.
struct Phases {
  int preparing = -1;
  int downloading = -1;
  int training = -1;
  int stopping = -1;
  int exited = -1;
  int uploading = -1;
  int done = -1;
};
// The phase of the report is the last one that began.
model::Report MakeReport(const Phases& phases);
// A program that ran from 13 to 20, and whose artifacts were up at 22.
model::Report FinishedWell();

// Performs Record actions on the snapshot (and nothing else) until there is none; returns the last
// other action.
std::optional<Action> Settle(TrainingSnapshot& seen, const TrainingRules& rules = {});

std::vector<std::string> Statuses(const model::TrainingJob& job);
std::string LastMessage(const model::TrainingJob& job);  // of its transitions

}  // namespace sabia::plan::testing
