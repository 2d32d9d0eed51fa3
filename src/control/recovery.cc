// TrainingController::Recover: takes over what an earlier daemon left.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "control/training_controller.h"

namespace sabia::control {
namespace {

template <typename T>
Result<T> ParseDocument(const store::Resource& row) {
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(row.document));
  return T::FromJson(document);
}

}  // namespace

Status TrainingController::Recover() {
  ASSIGN_OR_RETURN(const std::vector<store::Resource> instance_rows,
                   ports_.records.Live(store::Kind::kInstance));
  ASSIGN_OR_RETURN(const std::vector<store::Resource> job_rows,
                   ports_.records.Live(store::Kind::kTrainingJob));
  std::map<std::string, std::vector<model::InstanceRecord>> leases;
  std::set<std::string> leased;
  for (const store::Resource& row : instance_rows) {
    leased.insert(row.name);
    auto record = ParseDocument<model::InstanceRecord>(row);
    if (!record) return Wrap(record.error(), "failed to read instance '" + row.name + "': ");
    // There an agent may still wait that is to go on here.
    if (!record->predecessor.empty()) leased.insert(record->predecessor);
    leases[record->job_name].push_back(std::move(*record));
  }
  std::map<std::string, WallTime> created;
  for (const store::Resource& row : job_rows) {
    auto record = ParseDocument<model::TrainingJob>(row);
    if (!record) {
      LogError("training job '{}' cannot be read, and is left alone: {}", row.name,
               record.error().message);
      leases.erase(row.name);
      continue;
    }
    created[row.name] = record->created;
    // Before any job that waits for instances is looked at.
    if (model::HoldsPool(*record))
      pools_.Offer(row.name, plan::PoolKeysOf(*record), *record->warm_pool->retained_from);
    const bool queued =
        record->phase == model::TrainingPhase::kQueued && !leases.contains(row.name);
    if (queued) {
      AdoptQueued(std::move(*record), row.revision);
    } else {
      leases.try_emplace(row.name);
    }
  }
  // Also leases of jobs that are finished or gone: a look gives them back.
  for (const auto& [name, records] : leases) AdoptRunning(name, records, created[name]);
  ASSIGN_OR_RETURN(const std::vector<std::string> directories, ports_.files.List());
  for (const std::string& id : directories) {
    if (!leased.contains(id)) garbage_.push_back(id);
  }
  LogInfo("took over {} training jobs: {} with instances, {} waiting; {} directories to remove",
          jobs_.size(), running_.size(), capacity_.waiting(), garbage_.size());
  return {};
}

// A job without leases, as it is stored.
void TrainingController::AdoptQueued(model::TrainingJob record, std::int64_t revision) {
  const std::string name = record.name;
  Job& job = JobNamed(name);
  JobWork& work = *job.work;
  work.leases_known = true;
  work.stale_instances = false;
  job_of_uid_[record.uid] = name;
  const fleet::Demand demand = fleet::DemandOf(record, offer_);
  // Constructed with the record: assigning it would copy its request.
  const plan::TrainingSnapshot seen{.job = std::move(record), .now = ports_.clock.Wall()};
  if (capacity_.waiting() < kWaitingKeptWhole) {
    work.job = seen.job;
    work.revision = revision;
    work.stale_record = false;
  }
  // Whether a spot job wants this machine yet, a look tells.
  const auto& markets = settings_.worker.markets;
  const bool market = markets != nullptr && seen.job.IsSpot() &&
                      (seen.job.deadline || markets->Decides(fleet::InstancesOf(seen.job)));
  if (market || !demand.never.empty() || plan::NextStep(seen, settings_.worker.rules)) {
    MakeReady(name);
    return;
  }
  Wait(job, seen.job, {name, seen.job.created, demand.vcpus, demand.memory_bytes, demand.alone});
  if (const auto due = plan::NextDue(seen, settings_.worker.rules)) Arm(name, job, *due);
}

void TrainingController::AdoptRunning(const std::string& name,
                                      const std::vector<model::InstanceRecord>& leases,
                                      WallTime created) {
  fleet::Capacity::Ticket ticket{name, created, 0, 0, false};
  for (const model::InstanceRecord& lease : leases) {
    ticket.vcpus += lease.vcpus;
    ticket.memory_bytes += lease.memory_bytes;
    job_of_uid_[lease.id.substr(0, lease.id.find('-'))] = name;
  }
  JobNamed(name);
  if (!leases.empty()) {
    capacity_.Adopt(std::move(ticket));
    running_.insert(name);
  }
  MakeReady(name);
}

}  // namespace sabia::control
