#include "control/training_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "cost/billing.h"
#include "store/training_job_row.h"

namespace sabia::control {
namespace {

// Steps in one look. A job takes at most about ten; more means that the planner does not settle,
// which is our bug.
constexpr int kStepsMax = 64;
// A killed agent dies within milliseconds; until then it is not killed again.
constexpr Seconds kKillAgainAfter{1};
constexpr Seconds kSessionSlack{86'400};  // uploads and waiting come on top of the run time
constexpr Seconds kSessionMax{30 * 86'400};

store::Resource InstanceRow(const model::InstanceRecord& record, std::int64_t revision) {
  store::Resource row;
  row.kind = store::Kind::kInstance;
  row.name = record.id;
  row.status = "leased";
  row.created = row.modified = record.leased;
  row.parent = record.job_name;
  row.revision = revision;
  row.document = json::serialize(record.ToJson());
  return row;
}

Result<model::InstanceRecord> InstanceOf(const store::Resource& row) {
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(row.document));
  return model::InstanceRecord::FromJson(document);
}

JobWork::Instance NewInstance(const model::InstanceRecord& record, std::int64_t revision) {
  JobWork::Instance instance;
  instance.view.record = record;
  instance.revision = revision;
  instance.metrics = {record.id, record.job_name, std::nullopt};
  return instance;
}

// With those whose agents went on here, unless they are known to have left.
std::vector<std::string> DirectoriesOf(const std::vector<JobWork::Instance>& instances) {
  std::vector<std::string> ids;
  for (const JobWork::Instance& instance : instances) {
    ids.push_back(instance.view.record.id);
    if (!instance.view.record.predecessor.empty() && !instance.predecessor_left)
      ids.push_back(instance.view.record.predecessor);
  }
  return ids;
}

// "<job>-1" in the characters and the length that a session name may have.
std::string SessionName(const model::TrainingJob& job) {
  constexpr std::size_t kSessionNameMax = 64;
  return job.name.substr(0, kSessionNameMax - 16) + "-" + std::to_string(job.attempts.size());
}

std::vector<model::LedgerEntry> Bill(const WorkerSettings& settings,
                                     const model::TrainingJob& before,
                                     const model::TrainingJob& becomes) {
  static const cost::PriceLists unpriced;
  return cost::EntriesOfStep(settings.prices ? *settings.prices : unpriced, before, becomes);
}

JobWork::Instance* Find(JobWork& work, const std::string& id) {
  for (JobWork::Instance& instance : work.instances) {
    if (instance.view.record.id == id) return &instance;
  }
  return nullptr;
}

}  // namespace

TrainingWorker::TrainingWorker(const Ports& ports, const fleet::Offer& offer, store::Paths paths,
                               WorkerSettings settings)
    : ports_(ports),
      offer_(offer),
      paths_(std::move(paths)),
      settings_(std::move(settings)),
      desk_(settings_.markets, settings_.rules) {}

void TrainingWorker::Run(JobWork& work) {
  work.own_commits = 0;
  work.due.reset();
  work.ticket.reset();
  work.market_waits = false;
  work.gone = false;
  for (int step = 0; step < kStepsMax; ++step) {
    if (work.stale_record || !work.leases_known) {
      if (const Status read = Read(work); !read) {
        LogError("failed to read training job '{}': {}", work.name, read.error().message);
        work.due = ports_.clock.Wall() + settings_.retry_after;
        return;
      }
    }
    if (work.revision == 0) return RemoveStrays(work);
    if (work.stale_instances) Observe(work);
    const auto seen = Snapshot(work);
    if (!seen) {
      LogError("failed to read the warm pool '{}': {}", work.pool, seen.error().message);
      work.due = ports_.clock.Wall() + settings_.retry_after;
      return;
    }
    std::optional<plan::Action> action = plan::NextStep(*seen, settings_.rules);
    if (!action) {
      work.due = plan::NextDue(*seen, settings_.rules);
      work.gone = model::IsTerminal(work.job.phase) && work.instances.empty();
      return;
    }
    const Status performed = Perform(work, std::move(*action));
    if (performed) continue;
    if (performed.error().code != ErrorCode::kConflict) {
      LogError("training job '{}': {}", work.name, performed.error().message);
      work.due = ports_.clock.Wall() + settings_.retry_after;
      return;
    }
    work.stale_record = true;  // somebody changed it: look at what it is now
  }
  LogError("training job '{}' takes more than {} steps at once", work.name, kStepsMax);
  CHECK_MSG(!settings_.abort_on_illegal_step, "the planner does not settle: " + work.name);
  work.due = ports_.clock.Wall() + settings_.retry_after;
}

Status TrainingWorker::Read(JobWork& work) {
  const auto row = ports_.records.Get(store::Kind::kTrainingJob, work.name);
  if (!row && row.error().code != ErrorCode::kNotFound) return tl::make_unexpected(row.error());
  work.revision = 0;
  if (row) {
    ASSIGN_OR_RETURN(work.job, store::TrainingJobOf(*row));
    work.revision = row->revision;
    // The instances of one that has ended may be another job's by now.
    if (model::IsTerminal(work.job.phase)) work.leases_known = false;
  }
  if (!work.leases_known) RETURN_IF_ERROR(ReadLeases(work));
  work.stale_record = false;
  return {};
}

Status TrainingWorker::ReadLeases(JobWork& work) {
  ASSIGN_OR_RETURN(const std::vector<store::Resource> rows,
                   ports_.records.Children(store::Kind::kInstance, work.name));
  work.instances.clear();
  for (const store::Resource& row : rows) {
    ASSIGN_OR_RETURN(const model::InstanceRecord record, InstanceOf(row));
    work.instances.push_back(NewInstance(record, row.revision));
  }
  std::sort(work.instances.begin(), work.instances.end(), [](const auto& a, const auto& b) {
    return a.view.record.number < b.view.record.number;
  });
  work.leases_known = true;
  work.stale_instances = true;
  return {};
}

void TrainingWorker::Observe(JobWork& work) {
  for (JobWork::Instance& instance : work.instances) {
    plan::InstanceView& view = instance.view;
    // Life first, then the report: an agent that ended in between has written its last one.
    const bool runs = ports_.launcher.Runs(view.record.id);
    auto seen = ports_.files.Observe(view.record.id, runs);
    if (!seen) {
      LogWarn("failed to look at instance '{}': {}", view.record.id, seen.error().message);
      view.alive = view.alive || runs;  // not knowing is no reason to give it up
      continue;
    }
    view.alive = runs || seen->locked;
    if (seen->report) view.report = std::move(seen->report);
    if (seen->orders) view.orders = std::move(*seen->orders);
    view.last_seen = view.alive       ? ports_.clock.Wall()
                     : view.last_seen ? view.last_seen
                                      : seen->last_seen;
    view.last_words = std::move(seen->last_words);
    view.killed = instance.killed && ports_.clock.Mono() - *instance.killed < kKillAgainAfter;
    if (const Status taken = IngestMetrics(ports_, instance.metrics, seen->metrics_bytes); !taken) {
      LogWarn("metrics of instance '{}': {}", view.record.id, taken.error().message);
    }
    // An agent that reports here has left the directory where it waited.
    if (view.report && !view.record.predecessor.empty() && !instance.predecessor_left) {
      instance.predecessor_left = true;
      work.garbage.push_back(view.record.predecessor);
    }
  }
  work.stale_instances = false;
}

Result<plan::TrainingSnapshot> TrainingWorker::Snapshot(JobWork& work) {
  plan::TrainingSnapshot seen;
  seen.job = work.job;
  seen.now = ports_.clock.Wall();
  seen.pool_wanted = work.pool_wanted;
  for (const JobWork::Instance& instance : work.instances) seen.instances.push_back(instance.view);
  seen.spot = desk_.See(seen, work.spot);
  work.ticket.reset();
  work.market_waits = false;
  work.taken.reset();
  if (work.job.phase != model::TrainingPhase::kQueued) return seen;
  AskCapacity(work, seen);
  if (work.granted && !work.pool.empty()) {
    ASSIGN_OR_RETURN(seen.capacity.pool, ReadPool(work));
  }
  return seen;
}

Result<std::optional<plan::PoolOffer>> TrainingWorker::ReadPool(JobWork& work) {
  const std::optional<plan::PoolOffer> none;
  const auto row = ports_.records.Get(store::Kind::kTrainingJob, work.pool);
  if (!row && row.error().code == ErrorCode::kNotFound) return none;
  if (!row) return tl::make_unexpected(row.error());
  plan::PoolOffer offer;
  ASSIGN_OR_RETURN(offer.job, store::TrainingJobOf(*row));
  if (!model::HoldsPool(offer.job)) return none;
  ASSIGN_OR_RETURN(std::vector<store::Resource> leases,
                   ports_.records.Children(store::Kind::kInstance, work.pool));
  for (const store::Resource& lease : leases) {
    ASSIGN_OR_RETURN(model::InstanceRecord record, InstanceOf(lease));
    offer.leases.push_back(std::move(record));
  }
  work.taken = JobWork::Taken{row->revision, offer.job, std::move(leases)};
  return std::optional(std::move(offer));
}

void TrainingWorker::AskCapacity(JobWork& work, plan::TrainingSnapshot& seen) {
  fleet::Demand demand = fleet::DemandOf(work.job, offer_);
  using Answer = plan::CapacityView::Answer;
  if (!demand.never.empty()) {
    seen.capacity = {Answer::kNever, demand.never, {}, {}};
  } else if (!plan::WantsInstances(seen)) {
    work.market_waits = true;
    work.granted = false;
    seen.capacity = {Answer::kWaiting, plan::WhatItWaitsFor(seen), {}, {}, true};
    if (!work.market_place.empty()) seen.spot.no_offer += "; " + work.market_place;
  } else if (work.granted) {
    seen.capacity = {Answer::kGranted, "", std::move(demand.slices), std::move(demand.notes),
                     work.waited};
    if (!work.near_miss.empty()) seen.capacity.notes.push_back(work.near_miss);
  } else {
    work.ticket = fleet::Capacity::Ticket{work.job.name, work.job.created, demand.vcpus,
                                          demand.memory_bytes, demand.alone};
    if (!work.waits_for.empty()) seen.capacity = {Answer::kWaiting, work.waits_for, {}, {}, true};
  }
}

Status TrainingWorker::Perform(JobWork& work, plan::Action action) {
  if (auto* record = std::get_if<plan::Record>(&action)) return Perform(work, std::move(*record));
  if (const auto* launch = std::get_if<plan::Launch>(&action)) return Perform(work, *launch);
  if (const auto* order = std::get_if<plan::Order>(&action)) return Perform(work, *order);
  return Perform(work, std::get<plan::Kill>(action));
}

Status TrainingWorker::Perform(JobWork& work, plan::Record record) {
  if (!record.illegal.empty()) {
    LogError("OUR BUG: training job '{}' was to take the illegal step {}; it fails instead",
             work.name, record.illegal);
    CHECK_MSG(!settings_.abort_on_illegal_step, work.name + ": illegal step " + record.illegal);
    for (JobWork::Instance& instance : work.instances) KillAgent(instance);
  }
  using Op = store::Change::Op;
  std::vector<store::Change> changes;
  if (record.pool_of) {
    changes.push_back({Op::kUpdate, store::RowOf(*record.pool_of, work.taken->revision), {}, {}});
    changes.back().ledger = Bill(settings_, work.taken->job, *record.pool_of);
    for (store::Resource& lease : work.taken->leases)
      changes.push_back({Op::kDelete, std::move(lease), {}, {}});
  }
  changes.push_back({Op::kUpdate, store::RowOf(record.job, work.revision), {}, {}});
  changes.back().ledger = Bill(settings_, work.job, record.job);
  for (const model::InstanceRecord& lease : record.lease) {
    changes.push_back({Op::kInsert, InstanceRow(lease, 0), {}, {}});
  }
  if (record.give_back) {
    for (const JobWork::Instance& instance : work.instances) {
      changes.push_back(
          {Op::kDelete, InstanceRow(instance.view.record, instance.revision), {}, {}});
    }
  }
  RETURN_IF_ERROR(ports_.records.Commit(changes));
  ++work.own_commits;
  ++work.revision;
  work.job = std::move(record.job);
  if (record.give_back) {
    for (std::string& id : DirectoriesOf(work.instances)) work.garbage.push_back(std::move(id));
    work.instances.clear();
    work.granted = false;
  }
  constexpr std::int64_t kFirstRevision = 1;
  for (const model::InstanceRecord& lease : record.lease) {
    work.instances.push_back(NewInstance(lease, kFirstRevision));
  }
  return {};
}

Status TrainingWorker::Perform(JobWork& work, const plan::Launch& launch) {
  const WallTime now = ports_.clock.Wall();
  const Millis runs = plan::RunTimeLeft(work.job).value_or(kSessionMax);
  const RoleSession session =
      ports_.sessions.Mint(GetString(work.job.request, "RoleArn"), SessionName(work.job),
                           now + std::min<Millis>(runs + kSessionSlack, kSessionMax));
  for (const std::string& id : launch.ids) {
    JobWork::Instance* instance = Find(work, id);
    if (instance != nullptr) LaunchOne(work, *instance, session);
  }
  return {};
}

Status TrainingWorker::AddExternalBuckets(const HostChannels& channels, model::InstanceSpec& spec) {
  for (const std::string& bucket : BucketsOf(spec, channels)) {
    ASSIGN_OR_RETURN(auto endpoint, ports_.channels.External(bucket));
    if (endpoint) spec.external_buckets[bucket] = std::move(*endpoint);
  }
  return {};
}

void TrainingWorker::LaunchOne(JobWork& work, JobWork::Instance& instance,
                               const RoleSession& session) {
  plan::InstanceView& view = instance.view;
  std::vector<model::InstanceRecord> hosts;
  std::vector<std::string> groups;
  for (const JobWork::Instance& host : work.instances) {
    hosts.push_back(host.view.record);
    groups.push_back(host.view.record.group);
  }
  auto channels = ChannelsOf(work.job.request, groups, view.record.number, ports_.channels);
  if (!channels) {
    const ErrorCode code = channels.error().code;
    const bool users = code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument ||
                       code == ErrorCode::kDenied;
    view.fault = plan::Fault{"Data download failed: " + channels.error().message, users};
    return;
  }
  const SpecInput input{work.job, hosts, view.record, std::move(*channels), session};
  auto prepared = BuildSpec(input, settings_.spec, paths_);
  if (!prepared) {
    view.fault = plan::Fault{prepared.error().message, true};
    return;
  }
  if (const Status reached = AddExternalBuckets(input.channels, prepared->spec); !reached) {
    view.fault = plan::Fault{reached.error().message, false};
    return;
  }
  Status started = ports_.files.Prepare(view.record.id, *prepared);
  if (started)
    started = ports_.launcher.Start(
        {view.record.id, ports_.files.Directory(view.record.id), WaitingAgentOf(view.record)});
  if (!started) {
    view.fault = plan::Fault{
        fmt::format("failed to start instance '{}': {}", view.record.id, started.error().message),
        false};
    return;
  }
  ++view.launches;
  view.alive = ports_.launcher.Runs(view.record.id);
  work.stale_instances = work.stale_instances || !view.alive;  // it ended at once, or ran already
}

std::optional<fleet::WaitingAgent> TrainingWorker::WaitingAgentOf(
    const model::InstanceRecord& record) {
  if (record.predecessor.empty()) return std::nullopt;
  const auto seen =
      ports_.files.Observe(record.predecessor, ports_.launcher.Runs(record.predecessor));
  if (!seen || !seen->locked || !seen->report || !seen->report->stays) return std::nullopt;
  return fleet::WaitingAgent{record.predecessor, ports_.files.Directory(record.predecessor),
                             seen->report->pid};
}

Status TrainingWorker::Perform(JobWork& work, const plan::Order& order) {
  for (const auto& [id, orders] : order.orders) {
    JobWork::Instance* instance = Find(work, id);
    if (instance == nullptr) continue;
    RETURN_IF_ERROR(ports_.files.Give(id, orders));
    instance->view.orders = orders;
  }
  return {};
}

Status TrainingWorker::Perform(JobWork& work, const plan::Kill& kill) {
  for (const std::string& id : kill.ids) {
    JobWork::Instance* instance = Find(work, id);
    if (instance == nullptr) continue;
    LogWarn("training job '{}': killing instance '{}', which did not stop in time", work.name, id);
    KillAgent(*instance);
  }
  return {};
}

void TrainingWorker::KillAgent(JobWork::Instance& instance) {
  const std::string& id = instance.view.record.id;
  const int pid = instance.view.report ? instance.view.report->pid : 0;
  if (const Status killed = ports_.launcher.Kill({id, ports_.files.Directory(id)}, pid); !killed) {
    LogWarn("failed to kill instance '{}': {}", id, killed.error().message);
  }
  instance.killed = ports_.clock.Mono();
  instance.view.killed = true;
}

// Leases of a job whose record is gone: nobody owns what they run.
void TrainingWorker::RemoveStrays(JobWork& work) {
  std::vector<store::Change> changes;
  for (JobWork::Instance& instance : work.instances) {
    LogWarn("instance '{}' belongs to no training job: removing it", instance.view.record.id);
    changes.push_back(
        {store::Change::Op::kDelete, InstanceRow(instance.view.record, instance.revision), {}, {}});
  }
  if (!changes.empty()) {
    if (const Status removed = ports_.records.Commit(changes); !removed) {
      LogError("failed to remove the leases of '{}': {}", work.name, removed.error().message);
      work.leases_known = false;
      work.due = ports_.clock.Wall() + settings_.retry_after;
      return;
    }
    work.garbage = DirectoriesOf(work.instances);
    work.instances.clear();
  }
  work.gone = true;
}

std::vector<std::string> TrainingWorker::KeepDirectories(const std::vector<std::string>& ids) {
  std::vector<std::string> left;
  for (const std::string& id : ids) {
    if (!ports_.files.Keep(id)) left.push_back(id);
  }
  return left;
}

std::vector<std::string> TrainingWorker::RemoveDirectories(const std::vector<std::string>& ids) {
  std::vector<std::string> left;
  for (const std::string& id : ids) {
    const auto seen = ports_.files.Observe(id, ports_.launcher.Runs(id));
    // Agents have ended by now, as a rule; one that has not holds files that nobody will ask for.
    if (seen && seen->locked) {
      const bool ends =
          seen->report && seen->report->phase == model::AgentPhase::kDone && !seen->report->stays;
      const int pid = seen->report ? seen->report->pid : 0;
      if (!ends && !ports_.launcher.Kill({id, ports_.files.Directory(id)}, pid)) {
        left.push_back(id);
        continue;
      }
    }
    if (const Status removed = ports_.files.Remove(id); !removed) {
      LogWarn("failed to remove the directory of instance '{}': {}", id, removed.error().message);
    }
  }
  return left;
}

}  // namespace sabia::control
