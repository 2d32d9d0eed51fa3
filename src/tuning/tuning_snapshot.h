// What the planner of tuning jobs looks at, and what it may answer. Pure values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/training_job.h"
#include "model/tuning_job.h"

namespace sabia::tuning {

// The training job of a trial, as far as a search looks at it.
struct TrainingView {
  model::TrainingPhase phase = model::TrainingPhase::kQueued;
  bool stop_requested = false;
  std::optional<WallTime> ended;  // once it has
  double seconds = 0;             // of training
  std::string failure_reason;
  bool failure_is_ours = false;
  std::optional<double> objective;             // the final value of the metric
  std::vector<model::TrialMeasurement> curve;  // as far as it is known; only if curves are watched
};

struct TrialView {
  model::TuningTrial trial;
  // Of a trial that has not ended. Nothing: somebody deleted the training job.
  std::optional<TrainingView> training;
  std::size_t judged = 0;  // measurements that the rules saw at earlier looks
};

// A parent of WarmStartConfig with its trials that have ended.
struct ParentView {
  std::string tuning_job;
  std::vector<model::TuningTrial> trials;
};

struct TuningSnapshot {
  model::TuningJob job;
  std::vector<TrialView> trials;  // by number
  WallTime now;
  WallTime observed;   // when all training jobs that run were looked at last
  int salt = 0;        // of the next trial's name: how many of its names others had taken
  std::string broken;  // why the request cannot be searched any more; the job fails with it
};

struct NewTrial {
  model::TuningTrial trial;
  model::TrainingJob training;
};

// One commit: the tuning job and these trials as they are here, a new trial with its training job,
// and the wish to stop these training jobs.
struct TuningStep {
  model::TuningJob job;
  std::vector<model::TuningTrial> changed;
  std::optional<NewTrial> created;
  std::vector<std::string> stopped;
};

}  // namespace sabia::tuning
