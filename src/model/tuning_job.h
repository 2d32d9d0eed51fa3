// A tuning job (HyperParameterTuningJob) and its trials: the request, the state, and the table of
// legal steps between states.
//
// A tuning job is the document of a store::Resource of kind kTuningJob; a trial is one of kind
// kTuningTrial, whose name is that of its training job and whose parent is the tuning job's name
// (store/tuning_job_row.h). Trials are rows of their own, so that a job with 750 of them is not
// written whole 1500 times. A trial and its training job are inserted by one commit, together with
// the counters of the tuning job: there is no trial without a training job, and no training job of
// the search that the search does not know.
//
// Who writes what:
//   CreateHyperParameterTuningJob   inserts the tuning job in kRunning, with its seed
//   StopHyperParameterTuningJob     sets stop_requested, nothing else
//   DeleteHyperParameterTuningJob   deletes the rows of the tuning job and of its trials, once the
//                                   phase is terminal; training jobs stay, as on AWS
//   the controller                  everything else
//
// Times are UTC. Pure values. Source: DescribeHyperParameterTuningJob and
// HyperParameterTrainingJobSummary of the SageMaker API reference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/shared_object.h"
#include "base/time.h"
#include "model/transitions.h"

namespace sabia::model {

enum class TuningPhase {
  kRunning,    // trials are created and watched
  kFinishing,  // no more trials; those that run are being stopped or waited for; ends in kCompleted
  kStopping,   // StopHyperParameterTuningJob; ends in kStopped
  kFailing,    // nothing succeeds; ends in kFailed
  kCompleted,
  kFailed,
  kStopped,
};

inline constexpr std::array kTuningEdges = {
    Edge{TuningPhase::kRunning, TuningPhase::kFinishing},
    Edge{TuningPhase::kRunning, TuningPhase::kStopping},
    Edge{TuningPhase::kRunning, TuningPhase::kFailing},
    Edge{TuningPhase::kFinishing, TuningPhase::kStopping},
    Edge{TuningPhase::kFinishing, TuningPhase::kCompleted},
    Edge{TuningPhase::kStopping, TuningPhase::kStopped},
    Edge{TuningPhase::kFailing, TuningPhase::kFailed},
};
static_assert(!HasExit(kTuningEdges, TuningPhase::kCompleted), "terminal phases have no exit");
static_assert(!HasExit(kTuningEdges, TuningPhase::kFailed), "terminal phases have no exit");
static_assert(!HasExit(kTuningEdges, TuningPhase::kStopped), "terminal phases have no exit");
static_assert(AllReachable(kTuningEdges, TuningPhase::kRunning, TuningPhase::kStopped),
              "every phase can be reached");

inline constexpr bool IsTerminal(TuningPhase phase) {
  return phase == TuningPhase::kCompleted || phase == TuningPhase::kFailed ||
         phase == TuningPhase::kStopped;
}

std::string_view Name(TuningPhase phase);
// HyperParameterTuningJobStatus: "InProgress", "Completed", "Failed", "Stopping", "Stopped".
std::string_view PrimaryStatus(TuningPhase phase);

// Why a search was over.
enum class TuningEnd {
  kNone,
  kTrialsUsed,      // MaxNumberOfTrainingJobs
  kSpaceExhausted,  // every configuration was tried
  kTargetReached,   // TargetObjectiveMetricValue
  kNotImproving,    // BestObjectiveNotImproving
  kConverged,       // ConvergenceDetected
  kMaxRuntime,      // MaxRuntimeInSeconds
  kRequested,       // StopHyperParameterTuningJob
  kNothingSucceeds,
};
std::string_view Name(TuningEnd end);

enum class ObjectiveStatus { kPending, kSucceeded, kFailed };
std::string_view Name(ObjectiveStatus status);  // AWS's: "Pending", "Succeeded", "Failed"

// Why the search had a training job stopped.
enum class TrialStop {
  kNone,
  kMedianRule,  // TrainingJobEarlyStoppingType Auto
  kHyperband,   // not among the best at its rung, or MaxResource is reached
  kSearchOver,  // the tuning job ends
};
std::string_view Name(TrialStop stop);

// What became of the training job, as TrainingJobStatusCounters counts it.
enum class TrialResult {
  kInProgress,
  kCompleted,
  kRetryableError,     // an internal error
  kNonRetryableError,  // AlgorithmError, ClientError, CapacityError
  kStopped,
};
std::string_view Name(TrialResult result);

// One emission of the objective; the resource is its ordinal number, from 1: an epoch, a round.
struct TrialMeasurement {
  std::int64_t resource = 0;
  double value = 0;
};

struct TuningTrial {
  std::string training_job;
  std::string tuning_job;
  int number = 1;          // of creation, from 1, over all definitions
  std::string definition;  // DefinitionName; "" when the job has one without a name
  // TunedHyperParameters: the texts that the program sees, in the order of the space.
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string reason;                     // why it was suggested, one line for people
  std::optional<std::int64_t> resource;   // as suggested: train up to here
  std::optional<std::int64_t> continues;  // as suggested: the trial to go on from
  WallTime created;
  int known = 0;  // results that were recorded when it was suggested: those with finished <= known

  TrialStop stop = TrialStop::kNone;  // with stop_note for people
  std::string stop_note;

  // Of the end; until then kInProgress and kPending.
  TrialResult result = TrialResult::kInProgress;
  ObjectiveStatus objective_status = ObjectiveStatus::kPending;
  std::optional<double> objective;      // the last value emitted; also of stopped and failed jobs
  std::string failure;                  // why it has no objective: the job's FailureReason, or ours
  int finished = 0;                     // order in which results were recorded, from 1; 0: not yet
  double seconds = 0;                   // of training; 0: it never trained
  std::vector<TrialMeasurement> curve;  // of the objective; kCurvePointsMax at most, thinned out

  bool ended() const { return finished != 0; }
  json::object ToJson() const;
  static Result<TuningTrial> FromJson(const json::object& document);
};

// A row must stay small. Of longer curves, every second point is dropped as often as needed; the
// last point stays.
inline constexpr std::size_t kCurvePointsMax = 512;

// A training job that a Describe names as the best. Its objective is that of the trial.
struct TuningBest {
  std::string training_job;
  std::string tuning_job;  // its own, or a parent's (overall best)
  std::string definition;
  std::string metric;
  double value = 0;
};

struct TrialCounters {
  int completed = 0;
  int in_progress = 0;
  int retryable_error = 0;
  int non_retryable_error = 0;
  int stopped = 0;
};

struct ObjectiveCounters {
  int succeeded = 0;
  int pending = 0;
  int failed = 0;
};

struct TuningJob {
  std::string uid;  // 12 hex digits; names of trials are derived from it
  std::string name;
  std::string arn;
  std::string region;
  std::string account;
  WallTime created;
  WallTime modified;
  SharedObject request;   // CreateHyperParameterTuningJob as received, with the service's defaults
                          // filled in, without Tags
  std::int64_t seed = 0;  // RandomSeed, or drawn when the job was created

  TuningPhase phase = TuningPhase::kRunning;
  TuningEnd end = TuningEnd::kNone;
  std::string end_note;  // for people: "target 0.9 reached by …-007-…"
  std::optional<WallTime> ended;
  std::string failure_reason;

  TrialCounters trials;
  ObjectiveCounters objectives;
  std::optional<TuningBest> best;          // BestTrainingJob
  std::optional<TuningBest> overall_best;  // OverallBestTrainingJob: IdenticalDataAndAlgorithm only
  // TuningJobCompletionDetails.
  int not_improving = 0;              // NumberOfTrainingJobsObjectiveNotImproving
  std::optional<WallTime> converged;  // ConvergenceDetectedTime

  std::optional<WallTime> stop_requested;  // intent written by StopHyperParameterTuningJob
  std::vector<std::string> notes;          // what the user should know

  int Created() const;  // trials so far
  json::object ToJson() const;
  std::string ToText() const;  // of ToJson, without making it
  static Result<TuningJob> FromJson(const json::object& document);

  // WarmStartConfig: names of the parent tuning jobs, in the order of the request.
  std::vector<std::string> ParentNames() const;
};

// ConsumedResources.RuntimeInSeconds: from creation to the end, rounded down.
Seconds ConsumedRuntime(const TuningJob& job, WallTime now);

// "<tuning job>-<NNN>-<8 hex>". A function of its arguments, so that a trial has one name for ever.
// salt: counts up from 0 when a name is taken by somebody else's job.
std::string TrialName(const TuningJob& job, int number, int salt);
// The uid of that training job: 12 hex digits.
std::string TrialUid(const TuningJob& job, int number, int salt);

// "arn:aws:sagemaker:<region>:<account>:hyper-parameter-tuning-job/<name>", and the name in one.
std::string TuningJobArn(std::string_view region, std::string_view account, std::string_view name);
std::string TuningJobOfArn(std::string_view arn);

}  // namespace sabia::model
