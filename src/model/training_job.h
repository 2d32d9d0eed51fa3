// A training job: its request, its state, and the table of legal steps between states.
//
// The internal phase says what a controller does next; TrainingJobStatus and SecondaryStatus are
// what AWS clients see. One total function maps the first to the others. A record is the document
// of a store::Resource of kind kTrainingJob. Source: DescribeTrainingJob and
// SecondaryStatusTransition of the SageMaker API reference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/shared_object.h"
#include "base/time.h"
#include "model/deadline.h"
#include "model/instance.h"
#include "model/transitions.h"
#include "model/warm_pool.h"

namespace sabia::model {

enum class TrainingPhase {
  kQueued,     // acknowledged; no instances yet (also waiting for capacity, and again after an
               // interruption)
  kLaunching,  // instances recorded, agents starting and preparing
  kDownloading,
  kTraining,
  kUploading,
  kInterrupting,  // spot reclaim under way: notice given, checkpoints being flushed
  kStopping,      // stop, MaxRuntime or MaxWait under way; ends in kStopped
  kFailing,       // a host failed; the others are being stopped; ends in kFailed
  kCompleted,
  kFailed,
  kStopped,
};

inline constexpr std::array kTrainingEdges = {
    Edge{TrainingPhase::kQueued, TrainingPhase::kLaunching},
    Edge{TrainingPhase::kQueued, TrainingPhase::kStopping},
    Edge{TrainingPhase::kQueued, TrainingPhase::kFailed},
    Edge{TrainingPhase::kLaunching, TrainingPhase::kDownloading},
    Edge{TrainingPhase::kLaunching, TrainingPhase::kTraining},
    Edge{TrainingPhase::kLaunching, TrainingPhase::kInterrupting},
    Edge{TrainingPhase::kLaunching, TrainingPhase::kStopping},
    Edge{TrainingPhase::kLaunching, TrainingPhase::kFailing},
    Edge{TrainingPhase::kDownloading, TrainingPhase::kTraining},
    Edge{TrainingPhase::kDownloading, TrainingPhase::kInterrupting},
    Edge{TrainingPhase::kDownloading, TrainingPhase::kStopping},
    Edge{TrainingPhase::kDownloading, TrainingPhase::kFailing},
    Edge{TrainingPhase::kTraining, TrainingPhase::kUploading},
    Edge{TrainingPhase::kTraining, TrainingPhase::kInterrupting},
    Edge{TrainingPhase::kTraining, TrainingPhase::kStopping},
    Edge{TrainingPhase::kTraining, TrainingPhase::kFailing},
    Edge{TrainingPhase::kTraining, TrainingPhase::kCompleted},
    Edge{TrainingPhase::kUploading, TrainingPhase::kCompleted},
    Edge{TrainingPhase::kUploading, TrainingPhase::kStopping},
    Edge{TrainingPhase::kUploading, TrainingPhase::kFailing},
    Edge{TrainingPhase::kUploading,
         TrainingPhase::kInterrupting},  // an instance lost before all was uploaded
    Edge{TrainingPhase::kInterrupting, TrainingPhase::kQueued},
    Edge{TrainingPhase::kInterrupting,
         TrainingPhase::kCompleted},  // it ended well at the last moment
    Edge{TrainingPhase::kInterrupting, TrainingPhase::kFailing},
    Edge{TrainingPhase::kInterrupting, TrainingPhase::kStopping},
    Edge{TrainingPhase::kStopping, TrainingPhase::kStopped},
    Edge{TrainingPhase::kFailing, TrainingPhase::kFailed},
    Edge{TrainingPhase::kFailing,
         TrainingPhase::kQueued},  // RetryStrategy, after an internal error
};
static_assert(!HasExit(kTrainingEdges, TrainingPhase::kCompleted), "terminal phases have no exit");
static_assert(!HasExit(kTrainingEdges, TrainingPhase::kFailed), "terminal phases have no exit");
static_assert(!HasExit(kTrainingEdges, TrainingPhase::kStopped), "terminal phases have no exit");
static_assert(AllReachable(kTrainingEdges, TrainingPhase::kQueued, TrainingPhase::kStopped),
              "every phase can be reached");

inline constexpr bool IsTerminal(TrainingPhase phase) {
  return phase == TrainingPhase::kCompleted || phase == TrainingPhase::kFailed ||
         phase == TrainingPhase::kStopped;
}

std::string_view Name(TrainingPhase phase);

struct Transition {
  std::string status;  // SecondaryStatus
  WallTime start;
  std::optional<WallTime> end;
  std::string message;
};

// One placement of the whole job on instances. Billing looks at these intervals only, so no second
// counts twice.
struct Attempt {
  int number = 1;
  bool spot = false;
  WallTime launched;              // instances were leased
  std::optional<WallTime> ready;  // downloading or training began: billable from here
  std::optional<WallTime> ended;  // instances were given back
  std::string end_reason;  // "completed", "interrupted", "failed", "stopped", "lost", "moved"
  std::string zone;        // of spot capacity that a market gave; else ""
  // Of all instances together, where a market said so when they were leased; else the price book's.
  std::optional<Money> per_hour;
  std::string choice;             // why this capacity and no other; "" when nothing was chosen
  std::optional<WallTime> began;  // the program started on all hosts
  // When the newest checkpoint that reached S3 was written: work up to here need not be repeated.
  std::optional<WallTime> saved;
  std::optional<WallTime> gone;  // the machine itself was announced to be taken away then
};

struct TrainingJob {
  std::string uid;  // 12 hex digits; instance ids are <uid>-<attempt>-<n>
  std::string name;
  std::string arn;
  std::string region;
  std::string account;
  WallTime created;
  WallTime modified;
  SharedObject request;  // CreateTrainingJob as received, with the service's defaults filled in
  std::string
      tuning_job_arn;  // of the tuning job whose trial this is (tuning_job.h); "" for others

  TrainingPhase phase = TrainingPhase::kQueued;
  // SecondaryStatus as clients see it. Kept apart from the phase because MaxRuntimeExceeded and
  // MaxWaitTimeExceeded are both kStopped, and Pending is a kind of kQueued.
  std::string secondary_status = "Starting";
  std::vector<Transition> transitions;
  std::vector<Attempt> attempts;  // the last one is current
  std::optional<WallTime> training_start;
  std::optional<WallTime> training_end;
  std::string failure_reason;
  bool failure_is_ours = false;  // an internal error: RetryStrategy applies
  std::vector<FinalMetric> final_metrics;
  // How data reached the program: sums over the hosts of all attempts that have ended. `hosts`
  // counts a host once per attempt.
  std::vector<ChannelReport> channels;
  bool model_uploaded = false;
  // Of jobs that run on retained instances, or leave theirs to be reused.
  std::optional<WarmPool> warm_pool;

  std::optional<WallTime> stop_requested;  // intent written by StopTrainingJob
  StopReason stop_reason = StopReason::kNone;
  int interrupt_attempt = 0;  // intent written by a reclaim: the attempt to interrupt; 0: none
  std::optional<WallTime> reclaim_at;  // end of the two-minute notice
  std::optional<Deadline> deadline;    // MaxWaitTimeInSeconds is to be met, and how
  std::string move_to;  // intent: leave the current attempt's capacity for that; "": none
  int retries = 0;      // RetryStrategy attempts used
  std::vector<std::string>
      notes;  // shown by `sabia jobs JOB`: limits not enforced, spot without checkpoint …

  json::object ToJson() const;
  std::string ToText() const;  // of ToJson, without making it
  static Result<TrainingJob> FromJson(const json::object& document);

  // Facts of the request that the engine reads.
  int InstanceCount() const;  // over all groups
  bool IsSpot() const;
  std::optional<Seconds> MaxRuntime() const;
  std::optional<Seconds> MaxWait() const;
  std::optional<Seconds> MaxPending() const;
  int MaxRetries() const;     // RetryStrategy; 0 when absent
  Seconds KeepAlive() const;  // KeepAlivePeriodInSeconds; 0 when absent
};

// Its instances wait for another job: it has ended, and controllers still have work with it.
inline bool HoldsPool(const TrainingJob& job) {
  return job.warm_pool && job.warm_pool->state == WarmPoolState::kAvailable;
}

// Writes the intent that StopTrainingJob writes; false when it is there already. REQUIRES: the job
// has not ended.
bool RequestStop(TrainingJob& job, WallTime now);

// "InProgress", "Completed", "Failed", "Stopping", "Stopped".
std::string_view PrimaryStatus(TrainingPhase phase);

// Closes the running transition at `now` and opens the next. The same status again replaces the
// message in place, as AWS does, and keeps the start. `now` is moved up to the last start, so that
// times never go back.
void EnterStatus(TrainingJob& job, std::string_view secondary, std::string_view message,
                 WallTime now);

// Since when the job has been in kQueued, or was before its attempt.
WallTime QueuedSince(const TrainingJob& job);
// In a long queue the record of a job says that it waits only when its turn comes near: a commit
// for each would cost more than its creation. This says it where a reader finds a job that was not
// yet told: it is Pending from kShowWaitingAfter on, like every job that waits so long.
void ShowWaiting(TrainingJob& job, WallTime now);

// Sums over attempts, in whole seconds (rounded up), per instance; training counts from the first
// ready to the end, billable only the intervals [ready, ended] of each attempt. Nothing before the
// job was ready once.
std::optional<Seconds> TrainingTime(const TrainingJob& job, WallTime now);
std::optional<Seconds> BillableTime(const TrainingJob& job, WallTime now);

}  // namespace sabia::model
