// TrainingController: who gets instances next, new ones or those that another job left.
#include <utility>

#include "control/training_controller.h"

namespace sabia::control {

void TrainingController::Grant(const std::string& name, Job& job) {
  job.grant = true;
  job.keys_known = false;
  job.keys.reset();
  MakeReady(name);
  to_tell_ = capacity_.waiting() > 0;  // others have moved up
}

bool TrainingController::LearnKeys(const std::string& name, Job& job) {
  if (job.keys_known) return true;
  if (!job.work) return false;  // what its look finds comes with its result
  if (job.work->revision == 0 || job.work->job.name.empty()) {
    job.work->stale_record = true;
    MakeReady(name);
    return false;
  }
  job.keys_known = true;
  if (plan::MayUsePools(job.work->job)) job.keys = plan::PoolKeysOf(job.work->job);
  return true;
}

// A client that sees a job ended may submit the next one before the look that ended it is over, so
// the next one waits for looks at running jobs that may leave what it can use. They are short.
bool TrainingController::PoolMayCome(const plan::PoolKeys& keys) const {
  for (const auto& [name, keeper] : keepers_) {
    if (!keeper.placed || keeper.keys != keys) continue;
    const auto job = jobs_.find(name);
    if (job != jobs_.end() && !job->second.work) return true;
  }
  return false;
}

// False: the others have to wait, too.
bool TrainingController::AdmitNext(const std::string& name) {
  Job& job = JobNamed(name);
  if (pools_.empty() && keepers_.empty()) {
    if (!capacity_.NextFits()) {
      GiveUpPools();
      return false;
    }
    capacity_.AdmitNext();
    Grant(name, job);
    return true;
  }
  if (!LearnKeys(name, job)) return false;
  if (job.keys && PoolMayCome(*job.keys)) return false;
  const auto pool = job.keys ? pools_.Match(*job.keys) : std::nullopt;
  if (pool) {
    capacity_.HandOver(*pool, fleet::Capacity::Ticket(capacity_.Waiting(name)));
    pools_.Withdraw(*pool);
    promised_[*pool] = name;
    job.pool = *pool;
    job.near_miss.clear();
  } else if (capacity_.NextFits()) {
    job.near_miss = job.keys ? pools_.NearMiss(*job.keys) : "";
    capacity_.AdmitNext();
  } else {
    GiveUpPools();
    return false;
  }
  Grant(name, job);
  return true;
}

// For the job at the head of the queue: those that were left longest ago, if that helps.
void TrainingController::GiveUpPools() {
  std::set<std::string> given_up = yielding_;
  std::vector<std::string> chosen;
  for (const std::string& name : pools_.OldestFirst()) {
    if (capacity_.NextFits(given_up)) break;
    given_up.insert(name);
    chosen.push_back(name);
  }
  if (!capacity_.NextFits(given_up)) return;
  for (const std::string& name : chosen) {
    pools_.Withdraw(name);
    yielding_.insert(name);
    Job& job = JobNamed(name);
    job.yields = true;
    MakeReady(name);
  }
}

// The instances of a job that has ended wait, or they do no more.
void TrainingController::SettlePool(const std::string& name, const JobWork& work) {
  const bool known = work.revision != 0 && !work.job.name.empty();
  const bool over = !known || model::IsTerminal(work.job.phase);
  if (known && !over && plan::MayUsePools(work.job) && work.job.KeepAlive() > Seconds(0)) {
    const auto [keeper, fresh] = keepers_.try_emplace(name);
    if (fresh) keeper->second.keys = plan::PoolKeysOf(work.job);
    keeper->second.placed = work.job.phase != model::TrainingPhase::kQueued;
  } else if (over && !keepers_.empty()) {
    keepers_.erase(name);
  }
  if (known && model::HoldsPool(work.job) && !work.instances.empty()) {
    if (!promised_.contains(name) && !yielding_.contains(name))
      pools_.Offer(name, plan::PoolKeysOf(work.job), *work.job.warm_pool->retained_from);
    return;
  }
  if (!over) return;
  pools_.Withdraw(name);
  promised_.erase(name);
  yielding_.erase(name);
}

// Whether the job has the instances that were promised to it.
void TrainingController::SettlePromise(const std::string& name, Job& job) {
  const JobWork& work = *job.work;
  const bool decides = work.revision != 0 && work.job.phase == model::TrainingPhase::kQueued;
  if (decides && (work.granted || job.grant)) return;
  const std::string pool = std::exchange(job.pool, {});
  promised_.erase(pool);
  const bool took = work.job.warm_pool && work.job.warm_pool->taken_from == pool;
  // It runs on others, for these were gone; or on them, and their job has heard of it.
  if (took || !work.instances.empty() || !capacity_.Holds(name)) return;
  const auto left = jobs_.find(pool);
  if (left == jobs_.end()) return;
  // It ended before it could take them. They are capacity in use until their job says otherwise.
  fleet::Capacity::Ticket ticket = capacity_.Lease(name);
  ticket.job = pool;
  capacity_.HandOver(name, std::move(ticket));
  MakeReady(pool);
}

}  // namespace sabia::control
