#include "plan/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/endings.h"
#include "plan/failure_reason.h"
#include "plan/host_orders.h"
#include "plan/progress.h"
#include "plan/warm_pools.h"

namespace sabia::plan {
namespace {

using model::StopReason;
using model::TrainingJob;
using model::TrainingPhase;

std::optional<WallTime> MaxWaitDeadline(const TrainingJob& job) {
  const auto limit = job.MaxWait();
  if (!limit) return std::nullopt;
  return job.created + *limit;
}

// Before this time a reclaimed job finds no new capacity.
WallTime PlaceableFrom(const TrainingJob& job, const TrainingRules& rules) {
  const bool reclaimed = !job.attempts.empty() && job.attempts.back().end_reason == "interrupted";
  const WallTime from = QueuedSince(job) + (reclaimed ? rules.replacement_delay : Millis(0));
  if (job.attempts.empty()) return from;
  return std::max(from, job.attempts.back().gone.value_or(from));
}

std::optional<WallTime> MaxPendingDeadline(const TrainingJob& job) {
  const auto limit = job.MaxPending();
  if (!limit) return std::nullopt;
  return QueuedSince(job) + *limit;
}

std::optional<WallTime> RunTimeDeadline(const TrainingJob& job, const TrainingRules& rules) {
  const auto left = RunTimeLeft(job);
  if (!left || job.attempts.empty() || !job.attempts.back().ready) return std::nullopt;
  return *job.attempts.back().ready + *left + rules.runtime_slack;
}

bool Passed(const std::optional<WallTime>& deadline, WallTime now) {
  return deadline && now >= *deadline;
}

bool OnSpot(const TrainingSnapshot& seen) {
  if (seen.spot.advice) return seen.spot.advice->placement == spot::Placement::kSpot;
  return seen.job.IsSpot();
}

Record Place(const TrainingSnapshot& seen) {
  Record record{seen.job};
  TrainingJob& job = record.job;
  if (seen.capacity.waited) ShowWaiting(job, seen.now);
  const int number = static_cast<int>(job.attempts.size()) + 1;
  const bool spot = OnSpot(seen);
  job.attempts.push_back({number, spot, std::max(seen.now, QueuedSince(job)), {}, {}, ""});
  if (spot && seen.spot.offer) {
    job.attempts.back().zone = seen.spot.offer->zone;
    job.attempts.back().per_hour = seen.spot.offer->per_hour;
  }
  if (seen.spot.advice) job.attempts.back().choice = seen.spot.advice->why;
  for (const Slice& slice : seen.capacity.slices) {
    model::InstanceRecord lease;
    lease.number = static_cast<int>(record.lease.size()) + 1;
    lease.id = model::InstanceId(job.uid, number, lease.number);
    lease.job_name = job.name;
    lease.attempt = number;
    lease.group = slice.group;
    lease.instance_type = slice.instance_type;
    lease.spot = spot;
    lease.vcpus = slice.vcpus;
    lease.memory_bytes = slice.memory_bytes;
    lease.leased = job.attempts.back().launched;
    record.lease.push_back(std::move(lease));
  }
  if (seen.capacity.pool) TakePool(*seen.capacity.pool, record);
  AddNotes(job, seen.capacity.notes);
  Advance(record, TrainingPhase::kLaunching);
  const bool pending = job.secondary_status == "Pending";
  EnterStatus(job, pending ? "Pending" : "Starting",
              pending ? "Preparing the instances for training" : "Launching requested ML instances",
              seen.now);
  return record;
}

// A spot job that waits stays in Starting, as on AWS; others are Pending.
std::optional<Action> SayWaiting(const TrainingSnapshot& seen, const TrainingRules& rules) {
  const WallTime since = QueuedSince(seen.job) + rules.show_waiting_after;
  if (seen.now < since) return std::nullopt;
  const std::string message = "Training job waiting for capacity: " +
                              (WantsInstances(seen) ? seen.capacity.reason : WhatItWaitsFor(seen));
  const std::string_view status = seen.job.IsSpot() ? "Starting" : "Pending";
  if (!seen.job.transitions.empty() && seen.job.transitions.back().message == message &&
      seen.job.secondary_status == status) {
    return std::nullopt;
  }
  Record record{seen.job};
  EnterStatus(record.job, status, message, since);
  return record;
}

std::optional<Action> StepQueued(const TrainingSnapshot& seen, const TrainingRules& rules) {
  const TrainingJob& job = seen.job;
  const auto left = RunTimeLeft(job);
  if (job.stop_requested) return StopQueued(seen, StopReason::kRequested);
  if (Passed(MaxWaitDeadline(job), seen.now)) return StopQueued(seen, StopReason::kMaxWait);
  if (left && *left <= Millis(0)) return StopQueued(seen, StopReason::kMaxRuntime);
  if (Passed(MaxPendingDeadline(job), seen.now)) return StopQueued(seen, StopReason::kNone);
  switch (seen.capacity.answer) {
    case CapacityView::Answer::kNever:
      return FailQueued(seen, CapacityFailure(seen.capacity.reason));
    case CapacityView::Answer::kGranted:
      if (!WantsInstances(seen)) return SayWaiting(seen, rules);
      if (seen.now < PlaceableFrom(job, rules)) return std::nullopt;
      return Place(seen);
    case CapacityView::Answer::kWaiting:
      return SayWaiting(seen, rules);
    case CapacityView::Answer::kNotAsked:
      return std::nullopt;
  }
  return std::nullopt;
}

// Why a job whose instances run must stop, and since when.
struct StopCause {
  StopReason reason = StopReason::kNone;
  WallTime since;
};

std::optional<StopCause> WhyStop(const TrainingSnapshot& seen, const TrainingRules& rules) {
  if (seen.job.stop_requested) return StopCause{StopReason::kRequested, *seen.job.stop_requested};
  for (const InstanceView& host : seen.instances) {
    if (!host.report || host.report->stopped_for != StopReason::kMaxRuntime) continue;
    const auto since = host.report->began.find(model::AgentPhase::kStopping);
    return StopCause{StopReason::kMaxRuntime,
                     since == host.report->began.end() ? seen.now : since->second};
  }
  if (Passed(MaxWaitDeadline(seen.job), seen.now)) return StopCause{StopReason::kMaxWait, seen.now};
  if (Passed(RunTimeDeadline(seen.job, rules), seen.now))
    return StopCause{StopReason::kMaxRuntime, seen.now};
  return std::nullopt;
}

bool AllSucceeded(const std::vector<InstanceView>& hosts) {
  return !hosts.empty() && std::all_of(hosts.begin(), hosts.end(), Succeeded);
}

bool AllEnded(const std::vector<InstanceView>& hosts, const TrainingRules& rules) {
  return std::all_of(hosts.begin(), hosts.end(),
                     [&](const auto& host) { return Ended(host, rules); });
}

bool InterruptWanted(const TrainingJob& job) {
  return !job.attempts.empty() && job.interrupt_attempt == job.attempts.back().number;
}

// What the market, or the machine itself, says of the running attempt's end; nothing to say twice.
std::optional<WallTime> Reclaimed(const TrainingSnapshot& seen) {
  const TrainingJob& job = seen.job;
  if (job.attempts.empty() || !job.attempts.back().spot || InterruptWanted(job))
    return std::nullopt;
  std::optional<WallTime> end;
  for (const InstanceView& host : seen.instances) {
    if (!host.report || !host.report->machine_ends_at) continue;
    end = std::min(end.value_or(*host.report->machine_ends_at), *host.report->machine_ends_at);
  }
  if (end) return end;
  if (seen.spot.notice && seen.now >= seen.spot.notice->at) return seen.spot.notice->reclaim_at;
  return std::nullopt;
}

// The intent that `sabia spot interrupt` writes.
void NoteReclaim(const TrainingSnapshot& seen, TrainingJob& job, WallTime reclaim_at) {
  model::Attempt& attempt = job.attempts.back();
  job.interrupt_attempt = attempt.number;
  job.reclaim_at = reclaim_at;
  for (const InstanceView& host : seen.instances) {
    if (host.report && host.report->machine_ends_at) attempt.gone = reclaim_at;
  }
}

bool MoveWanted(const TrainingSnapshot& seen) {
  if (!seen.spot.advice || seen.job.attempts.empty()) return false;
  const auto placed =
      seen.job.attempts.back().spot ? spot::Placement::kSpot : spot::Placement::kOnDemand;
  return seen.spot.advice->placement != placed;
}

const InstanceView* FirstLost(const std::vector<InstanceView>& hosts, const TrainingRules& rules) {
  for (const InstanceView& host : hosts) {
    if (Lost(host, rules)) return &host;
  }
  return nullptr;
}

std::optional<Action> LaunchMissing(const TrainingSnapshot& seen) {
  Launch launch;
  for (const InstanceView& host : seen.instances) {
    if (!host.alive && !host.report && !host.fault) launch.ids.push_back(host.record.id);
  }
  if (launch.ids.empty()) return std::nullopt;
  return launch;
}

// A bug of ours costs this one job, not the daemon.
Record FailIllegal(const TrainingSnapshot& seen, const std::string& illegal) {
  Record record{seen.job};
  TrainingJob& job = record.job;
  job.phase = TrainingPhase::kFailed;
  job.failure_reason = InternalFailure("illegal step: " + illegal);
  EnterStatus(job, "Failed", "Training job failed", seen.now);
  job.transitions.back().end = job.transitions.back().start;
  job.training_end = job.transitions.back().start;
  if (!job.attempts.empty() && !job.attempts.back().ended) {
    job.attempts.back().ended = job.training_end;
    job.attempts.back().end_reason = "failed";
  }
  record.give_back = true;
  record.illegal = illegal;
  return record;
}

std::optional<Action> StepRunning(const TrainingSnapshot& seen, const TrainingRules& rules) {
  const auto& hosts = seen.instances;
  Record record{seen.job};
  if (hosts.empty()) return FailIllegal(seen, "running without an instance");
  CatchUp(record, hosts);
  const InstanceView* failure = FirstFailure(hosts);
  // A single host finishes its own uploads first; with several, the others must not wait for that.
  if (failure != nullptr && (hosts.size() > 1 || Ended(*failure, rules))) {
    return BeginFailing({seen, rules}, std::move(record), *failure);
  }
  const bool succeeded = AllSucceeded(hosts);
  if (succeeded && AllEnded(hosts, rules)) return Complete(seen, std::move(record));
  if (const InstanceView* lost = FirstLost(hosts, rules)) {
    return BeginLoss({seen, rules}, std::move(record), *lost);
  }
  if (const auto cause = WhyStop(seen, rules)) {
    return BeginStopping({seen, rules}, std::move(record), cause->reason, cause->since);
  }
  // A program that has ended well keeps its instance until it is uploaded, as the notice leaves
  // time for.
  const bool uploading = record.job.phase == TrainingPhase::kUploading || succeeded;
  if (!uploading) {
    if (const auto end = Reclaimed(seen)) NoteReclaim(seen, record.job, *end);
    if (InterruptWanted(record.job)) return BeginInterrupting({seen, rules}, std::move(record));
    if (MoveWanted(seen)) return BeginMoving({seen, rules}, std::move(record));
  }
  if (record.job.phase != seen.job.phase) return record;
  if (auto launch = LaunchMissing(seen)) return launch;
  return DirectHosts(seen, rules, HostWish{StopReason::kNone, {}, true});
}

std::optional<Action> StepInterrupting(const TrainingSnapshot& seen, const TrainingRules& rules) {
  const auto& hosts = seen.instances;
  const bool reclaimed = InterruptWanted(seen.job);
  const auto stop = WhyStop(seen, rules);
  if (AllEnded(hosts, rules)) {
    // A program that ended at the last moment completes, provided that its model was saved.
    const bool saved = std::any_of(hosts.begin(), hosts.end(), [](const auto& host) {
      return host.report && host.report->model_uploaded;
    });
    if (saved && AllSucceeded(hosts)) return Complete(seen, Record{seen.job});
    if (stop) return BeginStopping({seen, rules}, Record{seen.job}, stop->reason, stop->since);
    // In a gang a program may well fail because its peers were stopped before it.
    const bool alone = hosts.size() == 1;
    if (alone && reclaimed && hosts.front().report && Exited(hosts.front()) &&
        ProgramFailed(*hosts.front().report)) {
      return BeginFailing({seen, rules}, Record{seen.job}, hosts.front());
    }
    const bool moves = reclaimed && !seen.job.move_to.empty();
    return Requeue(seen, moves ? "moved" : reclaimed ? "interrupted" : "lost");
  }
  if (stop) return BeginStopping({seen, rules}, Record{seen.job}, stop->reason, stop->since);
  const HostWish wish{reclaimed ? StopReason::kInterrupted : StopReason::kPeerLost,
                      seen.job.reclaim_at, false};
  if (auto order = DirectHosts(seen, rules, wish)) return order;
  return KillOverdue(seen, rules);
}

std::optional<Action> StepStopping(const TrainingSnapshot& seen, const TrainingRules& rules) {
  if (AllEnded(seen.instances, rules)) return FinishStopping(seen, Record{seen.job});
  if (auto order =
          DirectHosts(seen, rules, HostWish{seen.job.stop_reason, seen.job.reclaim_at, true}))
    return order;
  return KillOverdue(seen, rules);
}

std::optional<Action> StepFailing(const TrainingSnapshot& seen, const TrainingRules& rules) {
  if (AllEnded(seen.instances, rules)) return FinishFailing(seen, Record{seen.job});
  if (auto order =
          DirectHosts(seen, rules, HostWish{StopReason::kPeerLost, seen.job.reclaim_at, false}))
    return order;
  return KillOverdue(seen, rules);
}

// Terminal records and their leases change in one commit, so leases that outlived theirs are
// strays; unless they wait for another job.
std::optional<Action> StepTerminal(const TrainingSnapshot& seen) {
  if (model::HoldsPool(seen.job)) return StepPool(seen);
  if (seen.instances.empty()) return std::nullopt;
  Record record{seen.job};
  record.give_back = true;
  return record;
}

}  // namespace

bool WantsInstances(const TrainingSnapshot& seen) {
  if (!seen.job.IsSpot()) return true;
  if (!seen.spot.advice) return seen.spot.offer.has_value();
  switch (seen.spot.advice->placement) {
    case spot::Placement::kIdle:
      return false;
    case spot::Placement::kSpot:
      return seen.spot.offer.has_value();
    case spot::Placement::kOnDemand:
      return true;
  }
  return true;
}

std::string WhatItWaitsFor(const TrainingSnapshot& seen) {
  if (seen.spot.advice) return seen.spot.advice->why;
  return seen.spot.no_offer;
}

std::optional<Millis> RunTimeLeft(const TrainingJob& job) {
  const auto limit = job.MaxRuntime();
  if (!limit) return std::nullopt;
  Millis left = *limit;
  for (const model::Attempt& attempt : job.attempts) {
    if (attempt.ready && attempt.ended) left -= *attempt.ended - *attempt.ready;
  }
  return left;
}

std::optional<Action> NextStep(const TrainingSnapshot& seen, const TrainingRules& rules) {
  std::optional<Action> action;
  switch (seen.job.phase) {
    case TrainingPhase::kQueued:
      action = StepQueued(seen, rules);
      break;
    case TrainingPhase::kLaunching:
    case TrainingPhase::kDownloading:
    case TrainingPhase::kTraining:
    case TrainingPhase::kUploading:
      action = StepRunning(seen, rules);
      break;
    case TrainingPhase::kInterrupting:
      action = StepInterrupting(seen, rules);
      break;
    case TrainingPhase::kStopping:
      action = StepStopping(seen, rules);
      break;
    case TrainingPhase::kFailing:
      action = StepFailing(seen, rules);
      break;
    case TrainingPhase::kCompleted:
    case TrainingPhase::kFailed:
    case TrainingPhase::kStopped:
      action = StepTerminal(seen);
      break;
  }
  if (action) {
    if (auto* record = std::get_if<Record>(&*action)) {
      if (!record->illegal.empty()) *record = FailIllegal(seen, record->illegal);
      record->job.modified = std::max(record->job.modified, seen.now);
    }
  }
  return action;
}

std::optional<WallTime> NextDue(const TrainingSnapshot& seen, const TrainingRules& rules) {
  std::optional<WallTime> due;
  const auto consider = [&](const std::optional<WallTime>& deadline) {
    if (deadline && *deadline > seen.now) due = std::min(due.value_or(*deadline), *deadline);
  };
  const TrainingJob& job = seen.job;
  switch (job.phase) {
    case TrainingPhase::kQueued:
      consider(MaxWaitDeadline(job));
      consider(MaxPendingDeadline(job));
      if (seen.capacity.answer == CapacityView::Answer::kWaiting) {
        consider(QueuedSince(job) + rules.show_waiting_after);
      }
      consider(PlaceableFrom(job, rules));
      consider(seen.spot.look_at);
      break;
    case TrainingPhase::kLaunching:
    case TrainingPhase::kDownloading:
    case TrainingPhase::kTraining:
    case TrainingPhase::kUploading:
      consider(MaxWaitDeadline(job));
      consider(RunTimeDeadline(job, rules));
      consider(seen.spot.look_at);
      if (seen.spot.notice) consider(seen.spot.notice->at);
      break;
    case TrainingPhase::kInterrupting:
      consider(MaxWaitDeadline(job));
      consider(KillTime(job, rules));
      break;
    case TrainingPhase::kStopping:
    case TrainingPhase::kFailing:
      consider(KillTime(job, rules));
      break;
    case TrainingPhase::kCompleted:
    case TrainingPhase::kFailed:
    case TrainingPhase::kStopped:
      consider(PoolDue(job));
      break;
  }
  return due;
}

}  // namespace sabia::plan
