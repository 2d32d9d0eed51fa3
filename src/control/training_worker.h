// One look at one training job: read what is stale, observe its instances, plan, perform, until
// nothing is left to do.
//
// Run() may be repeated at any time and after any crash: intent is committed before its effects,
// ids are deterministic, and "already done" is success. A commit that lost the race (kConflict)
// leads to reading again.
//
// Threading: thread-safe; a JobWork belongs to one Run() at a time. Blocks on disk and store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/metrics_ingest.h"
#include "control/ports.h"
#include "control/spec_builder.h"
#include "control/spot_desk.h"
#include "fleet/capacity.h"
#include "plan/training_plan.h"

namespace sabia::control {

// What is known of a job between two looks.
struct JobWork {
  std::string name;
  bool stale_record = true;     // read it again
  bool stale_instances = true;  // observe them again
  bool leases_known = false;  // the instance records were read once; after that only we change them
  bool granted = false;       // the capacity gave the job its instances
  bool waited = false;        // not at once
  std::string waits_for;      // what a queued job waits for, when it is time to say so
  std::string market_place;   // … and where it stands among those that wait for the spot market
  SpotMemory spot;

  std::int64_t revision = 0;  // 0: no such record
  model::TrainingJob job;
  struct Instance {
    plan::InstanceView view;
    std::int64_t revision = 0;
    MetricCursor metrics;
    std::optional<MonoTime> killed;
  };
  std::vector<Instance> instances;  // by number

  // Results of the last Run.
  int own_commits = 0;                            // each wakes us once more than needed
  std::optional<WallTime> due;                    // look again then
  std::optional<fleet::Capacity::Ticket> ticket;  // the job is queued and wants this
  bool market_waits = false;         // the job is queued, and wants nothing of this machine yet
  std::vector<std::string> garbage;  // instances given back: directories to remove
  bool gone = false;                 // nothing is left to do, ever
};

struct WorkerSettings {
  plan::TrainingRules rules;
  SpecSettings spec;
  std::shared_ptr<const fleet::SpotMarkets> markets;  // null: spot capacity is always there
  // Abort on an illegal step: for tests and the simulator. Otherwise the job fails and the log is
  // loud.
  bool abort_on_illegal_step = false;
  // After an effect that failed for want of the disk or the store.
  Millis retry_after{1'000};
};

class TrainingWorker {
 public:
  TrainingWorker(const Ports& ports, const fleet::Offer& offer, store::Paths paths,
                 WorkerSettings settings);

  void Run(JobWork& work);
  // Directories of instances that were given back: the ids of those that cannot serve others.
  std::vector<std::string> KeepDirectories(const std::vector<std::string>& ids);
  // Kills what still runs in them and removes the directories. Failures are logged; the next start
  // tries again.
  void RemoveDirectories(const std::vector<std::string>& ids);

  const WorkerSettings& settings() const { return settings_; }
  const fleet::Offer& offer() const { return offer_; }

 private:
  Status Read(JobWork& work);
  Status ReadLeases(JobWork& work);
  void Observe(JobWork& work);
  plan::TrainingSnapshot Snapshot(JobWork& work);
  Status Perform(JobWork& work, plan::Action action);
  Status Perform(JobWork& work, plan::Record record);
  Status Perform(JobWork& work, const plan::Launch& launch);
  Status Perform(JobWork& work, const plan::Order& order);
  Status Perform(JobWork& work, const plan::Kill& kill);
  // Tells the agent how to reach what does not live here.
  Status AddExternalBuckets(const HostChannels& channels, model::InstanceSpec& spec);
  void LaunchOne(JobWork& work, JobWork::Instance& instance, const RoleSession& session);
  void RemoveStrays(JobWork& work);
  void KillAgent(JobWork::Instance& instance);

  const Ports ports_;
  const fleet::Offer& offer_;
  const store::Paths paths_;
  const WorkerSettings settings_;
  const SpotDesk desk_;
};

}  // namespace sabia::control
