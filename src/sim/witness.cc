#include "sim/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "store/training_job_row.h"

namespace sabia::sim {
namespace {

using model::TrainingJob;

constexpr std::size_t kViolationsMax = 20;  // the first ones tell

std::string HostKey(const model::InstanceRecord& lease) {
  return lease.job_name + "/" + lease.Host();
}

// One commit may hold several steps.
bool Reaches(model::TrainingPhase from, model::TrainingPhase to) {
  return model::ReachableFrom(model::kTrainingEdges, from)[static_cast<std::size_t>(to)];
}

// The last time of the attempt that is known.
WallTime LastOf(const model::Attempt& attempt) {
  return attempt.ended.value_or(attempt.ready.value_or(attempt.launched));
}

}  // namespace

void Witness::Violation(const std::string& what) {
  if (violations_.size() < kViolationsMax)
    violations_.push_back(fmt::format("at {}: {}", ToUnixMillis(now_), what));
}

void Witness::Digest(std::string_view text) {
  constexpr std::uint64_t kPrime = 1099511628211u;
  for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * kPrime;
}

std::vector<std::string> Witness::TakeEnded() { return std::exchange(ended_, {}); }
std::vector<std::string> Witness::TakeKept() { return std::exchange(kept_, {}); }

void Witness::Saw(const store::Change& change, const store::Resource* becomes, WallTime now) {
  now_ = now;
  ++commits_;
  Digest(change.resource.name);
  if (becomes != nullptr) Digest(becomes->document);
  if (change.resource.kind == store::Kind::kInstance) return SawLease(change, becomes);
  if (becomes == nullptr) return Violation("training job '" + change.resource.name + "' vanished");
  SawLedger(change);
  SawJob(*becomes);
}

void Witness::Forget(const std::string& job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  taken_by_.erase(job);
  if (found->second.warm_pool) taken_by_.erase(found->second.warm_pool->taken_from);
  jobs_.erase(found);
  bills_.erase(job);
}

void Witness::SawLedger(const store::Change& change) {
  Bill& bill = bills_[change.resource.name];
  for (const model::LedgerEntry& entry : change.ledger) {
    Digest(entry.instance);
    if (!bill.lines.emplace(entry.instance, entry.kind).second)
      Violation(fmt::format("'{}' is billed twice", entry.instance));
    if (entry.job_name != change.resource.name)
      Violation(fmt::format("'{}' is billed with another job", entry.instance));
    bill.billed += entry.end - entry.start;
  }
}

// After any commit: what has ended is billed, once, and nothing else is.
void Witness::CheckBill(const TrainingJob& job) {
  Millis used{0};
  for (const model::Attempt& attempt : job.attempts) {
    if (attempt.ready && attempt.ended)
      used += (*attempt.ended - *attempt.ready) * job.InstanceCount();
  }
  if (job.warm_pool && job.warm_pool->retained_until) {
    used += (*job.warm_pool->retained_until - *job.warm_pool->retained_from) * job.InstanceCount();
  }
  const Millis billed = bills_[job.name].billed;
  if (used != billed)
    Violation(fmt::format("{}: {} ms were used, {} ms are billed", job.name, used.count(),
                          billed.count()));
}

void Witness::SawJob(const store::Resource& row) {
  auto job = store::TrainingJobOf(row);
  if (!job) return Violation(job.error().message);
  const bool over = model::IsTerminal(job->phase) && !model::HoldsPool(*job);
  if (row.live == over) Violation(row.name + ": live, and ended or the other way round");
  const auto before = jobs_.find(row.name);
  if (before != jobs_.end()) CheckStep(before->second, *job);
  CheckTaken(*job);
  CheckBill(*job);
  if (over) {
    ended_.push_back(row.name);
  } else if (model::HoldsPool(*job)) {
    kept_.push_back(row.name);
  }
  jobs_[row.name] = std::move(*job);
}

void Witness::CheckStep(const TrainingJob& before, const TrainingJob& after) {
  const auto broken = [&](std::string_view what) {
    Violation(after.name + ": " + std::string(what));
  };
  if (model::HoldsPool(before)) return CheckPool(before, after);
  if (model::IsTerminal(before.phase)) broken("changed after its end");
  if (before.phase != after.phase && !Reaches(before.phase, after.phase)) {
    broken(fmt::format("illegal step from {} to {}", Name(before.phase), Name(after.phase)));
  }
  if (before.uid != after.uid || before.request != after.request) broken("its request changed");
  if (before.stop_requested && after.stop_requested != before.stop_requested)
    broken("a wish to stop was forgotten");
  if (after.modified < before.modified) broken("modified went back");
  if (after.transitions.size() < before.transitions.size()) broken("a status was forgotten");
  if (after.attempts.size() < before.attempts.size() ||
      after.attempts.size() > before.attempts.size() + 1) {
    broken("attempts were forgotten or made up");
  }
  for (std::size_t i = 0; i + 1 < after.attempts.size(); ++i) {
    const model::Attempt& attempt = after.attempts[i];
    if (!attempt.ended) broken("two attempts at once");
    if (LastOf(attempt) > after.attempts[i + 1].launched) broken("a second is in two attempts");
    if (i < before.attempts.size() && before.attempts[i].ended &&
        before.attempts[i].ended != attempt.ended) {
      broken("an attempt ended twice");
    }
  }
  if (!after.attempts.empty() && LastOf(after.attempts.back()) < after.attempts.back().launched)
    broken("an attempt ended before it began");
}

// Of a job that has ended and whose instances wait.
void Witness::CheckPool(const TrainingJob& before, const TrainingJob& after) {
  const auto broken = [&](std::string_view what) {
    Violation(after.name + ": " + std::string(what));
  };
  if (before.phase != after.phase || before.attempts.size() != after.attempts.size())
    broken("went on after its end");
  if (!after.warm_pool || after.warm_pool->retained_from != before.warm_pool->retained_from)
    return broken("when its pool began was forgotten");
  const model::WarmPool& pool = *after.warm_pool;
  if (pool.state == model::WarmPoolState::kInUse) broken("its pool is in use after its end");
  if (pool.state == model::WarmPoolState::kReused) {
    const auto [other, first] = taken_by_.try_emplace(after.name, pool.reused_by);
    if (!first) broken("its pool was taken twice, by " + other->second);
  }
  if (pool.state != model::WarmPoolState::kAvailable && !pool.retained_until)
    broken("its pool is over, and has no end");
}

// The record of the job that left the pool comes with the same commit, before or after this one.
void Witness::CheckTaken(const TrainingJob& job) {
  if (!job.warm_pool || job.warm_pool->taken_from.empty()) return;
  const auto [taker, first] = taken_by_.try_emplace(job.warm_pool->taken_from, job.name);
  if (taker->second != job.name) Violation(job.name + ": its pool is that of " + taker->second);
}

void Witness::SawLease(const store::Change& change, const store::Resource* becomes) {
  const std::string& id = change.resource.name;
  if (becomes == nullptr) {
    const auto lease = leases_.find(id);
    if (lease == leases_.end()) return Violation("lease '" + id + "' was given back twice");
    leased_ -= lease->second.vcpus;
    hosts_.erase(HostKey(lease->second));
    leases_.erase(lease);
    return;
  }
  const auto document = ParseJsonObject(becomes->document);
  auto lease =
      document ? model::InstanceRecord::FromJson(*document) : tl::make_unexpected(document.error());
  if (!lease) return Violation("lease '" + id + "': " + lease.error().message);
  leased_ += lease->vcpus;
  constexpr double kRounding = 1e-6;
  if (leased_ > vcpus_ + kRounding)
    Violation(fmt::format("{} vCPU are leased, the machine has {}", leased_, vcpus_));
  const auto [other, first] = hosts_.try_emplace(HostKey(*lease), id);
  if (!first) Violation(fmt::format("'{}' was leased while '{}' was", id, other->second));
  leases_[id] = std::move(*lease);
}

}  // namespace sabia::sim
