// What the planner of training jobs looks at, and what it may answer. Pure values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/instance.h"
#include "model/instance_record.h"
#include "model/limits.h"
#include "model/training_job.h"
#include "plan/spot_view.h"

namespace sabia::plan {

// Notes a record may hold: it must stay small.
inline constexpr std::size_t kNotesMax = 50;

struct TrainingRules {
  // From the notice of a spot reclaim to the end of the instance; EC2 gives two minutes.
  Millis reclaim_notice{120'000};
  // Capacity that was reclaimed is gone; new capacity comes no sooner than this after it.
  Millis replacement_delay{2'000};
  // Between SIGTERM and SIGKILL; the agent keeps it, the planner only waits for it.
  Millis stop_grace{120'000};
  // An agent that has not ended its program so long after the grace is killed with everything it
  // runs.
  Millis kill_slack{60'000};
  // The agent enforces MaxRuntimeInSeconds; so long after the limit the planner does.
  Millis runtime_slack{30'000};
  // A job that waits for capacity says so after this time; jobs placed sooner save a commit.
  Millis show_waiting_after = model::kShowWaitingAfter;
  // Starts of one agent that end without a sign of life before the instance counts as lost.
  int launches_max = 3;
  // Attempts in a row that end with a lost instance before the job fails; only those shorter than
  // loss_window count, so that a job that makes progress between losses goes on.
  int losses_max = 5;
  Millis loss_window{600'000};
};

// Why an instance could not be prepared: users means a ClientError.
struct Fault {
  std::string text;
  bool users = false;
};

struct InstanceView {
  model::InstanceRecord record;
  bool alive = false;  // its agent holds its lock, or was started and still runs
  std::optional<model::Report> report;
  std::string last_words;             // of an agent that died without a report
  std::optional<WallTime> last_seen;  // the last sign of life of an agent that died
  model::Orders orders;               // as last written; merge_from holds instance ids
  int launches = 0;                   // by this daemon
  bool killed = false;                // by this daemon, a moment ago
  std::optional<Fault> fault;
};

// One instance that the capacity would lease.
struct Slice {
  std::string group = "homogeneousCluster";
  std::string instance_type;
  double vcpus = 1;
  std::int64_t memory_bytes = 0;
};

// The instances of a job that has ended, which another may run on.
struct PoolOffer {
  model::TrainingJob job;                     // as committed: its warm pool is Available
  std::vector<model::InstanceRecord> leases;  // by number
};

struct CapacityView {
  enum class Answer {
    kNotAsked,
    kWaiting,  // reason says for what
    kGranted,  // slices says which instances, all of them
    kNever,    // reason says why not
  };
  Answer answer = Answer::kNotAsked;
  std::string reason;
  std::vector<Slice> slices;           // in the order of instance numbers
  std::vector<std::string> notes;      // "ml.p3.2xlarge has 1 GPU, this machine none"
  bool waited = false;                 // it was not granted at once
  std::optional<PoolOffer> pool = {};  // what is granted are these instances
};

struct TrainingSnapshot {
  model::TrainingJob job;
  std::vector<InstanceView> instances;  // of the current attempt, by number
  CapacityView capacity;                // asked for queued jobs only
  SpotView spot;                        // of spot jobs
  WallTime now;
  bool pool_wanted = false;  // its instances wait for a job, and one of another kind needs the room
};

// Commit the job as it is here, together with the leases: inserted, or given back (rows deleted,
// then directories).
struct Record {
  model::TrainingJob job;
  std::vector<model::InstanceRecord> lease = {};
  bool give_back = false;
  // The job whose waiting instances this one takes over: its record changes, and its leases go, in
  // the same commit.
  std::optional<model::TrainingJob> pool_of = {};
  // "completed → training": our own bug. The job in this record has failed for it, and its agents
  // are to be killed.
  std::string illegal = {};
};
// Prepare the instances' directories and start their agents.
struct Launch {
  std::vector<std::string> ids;
};
// Replace the orders of these instances.
struct Order {
  std::map<std::string, model::Orders> orders;
};
// SIGKILL these agents and all they run.
struct Kill {
  std::vector<std::string> ids;
};
using Action = std::variant<Record, Launch, Order, Kill>;

}  // namespace sabia::plan
