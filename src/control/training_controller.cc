#include "control/training_controller.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace sabia::control {
namespace {

// Longest sleep of the loop: a jump of the wall clock is noticed after that.
constexpr Millis kTurnMax{60'000};
constexpr std::size_t kPositionsTold = 8;
constexpr std::size_t kMarketPlacesTold = 100;
// So many jobs at the head of the queue say in their records that they wait, and so often it is
// seen whether there are new ones. The others are shown as waiting all the same
// (model::ShowWaiting).
constexpr std::size_t kWaitingTold = 100;
constexpr Millis kTellingInterval{200};
constexpr std::size_t kGarbagePerTask = 64;
// Directories are removed when nothing else is to do: file systems make files more slowly while
// they remove others. So long, or so many of them, may wait.
constexpr Seconds kGarbageAgeMax{10};
// So many directories are left alone while others are to be had: their agents may still be ending.
constexpr std::size_t kSpentYoung = 8;
constexpr std::size_t kGarbageMax = 2048;

// Of a record that was just created.
constexpr std::int64_t kFirstRevision = 1;

std::string_view UidOf(std::string_view instance_id) {
  return instance_id.substr(0, instance_id.find('-'));
}

}  // namespace

TrainingController::TrainingController(const Ports& ports, const fleet::Offer& offer,
                                       Executor& executor, store::Paths paths,
                                       ControllerSettings settings)
    : ports_(ports),
      settings_(settings),
      offer_(offer),
      executor_(executor),
      worker_(ports, offer, std::move(paths), settings.worker),
      capacity_(offer.machine, offer.options) {}

TrainingController::~TrainingController() { Stop(); }

void TrainingController::Start() {
  thread_ = std::thread([this] {
    while (!inbox_.closed()) {
      const Millis wait = Turn();
      // Who comes behind others is in no hurry.
      inbox_.Wait(wait, capacity_.waiting() > 0);
    }
  });
}

void TrainingController::Stop() {
  inbox_.Close();
  if (thread_.joinable()) thread_.join();
  while (in_flight_ > 0 || sweeping_) {
    Inbox::Letters letters = inbox_.Take();
    in_flight_ -= static_cast<int>(letters.done.size());
    if (letters.swept > 0) sweeping_ = false;
    std::this_thread::yield();
  }
}

void TrainingController::RecordChanged(store::Kind kind, const std::string& name) {
  if (kind == store::Kind::kTrainingJob) inbox_.Changed(name);
}

void TrainingController::Accepted(std::unique_ptr<model::TrainingJob> job) {
  inbox_.Accepted(std::move(job));
}

void TrainingController::Poke(const std::string& instance_id) { inbox_.Poked(instance_id); }

Millis TrainingController::Turn() {
  Inbox::Letters letters = inbox_.Take();
  // Commits first: a look's own are in the inbox before its result is.
  Hear(letters);
  for (std::unique_ptr<JobWork>& work : letters.done) Absorb(std::move(work));
  if (letters.swept > 0) sweeping_ = false;
  if (garbage_.empty()) garbage_since_ = ports_.clock.Mono();
  for (std::string& id : letters.left) garbage_.push_back(std::move(id));
  FireTimers();
  SweepRunning();
  TellPositions();
  TellWaiting();
  Admit();
  Dispatch();
  CollectGarbage();
  return UntilNext();
}

TrainingController::Job& TrainingController::JobNamed(const std::string& name) {
  const auto [entry, fresh] = jobs_.try_emplace(name);
  if (fresh) {
    entry->second.work = std::make_unique<JobWork>();
    entry->second.work->name = name;
  }
  return entry->second;
}

void TrainingController::MakeReady(const std::string& name) {
  Job& job = jobs_.at(name);
  if (job.ready) return;
  job.ready = true;
  ready_.push_back(name);
}

void TrainingController::HearChanged(const std::string& name, int count) {
  Job& job = JobNamed(name);
  if (!job.work) {
    job.wakes += count;  // judged when the look is over
  } else {
    job.stale_record = true;
    MakeReady(name);
  }
}

void TrainingController::Hear(Inbox::Letters& letters) {
  for (std::unique_ptr<model::TrainingJob>& job : letters.accepted) {
    if (jobs_.contains(job->name)) {
      HearChanged(job->name, 1);  // an earlier job of that name is not forgotten yet
    } else {
      AdoptQueued(std::move(*job), kFirstRevision);
    }
  }
  for (const auto& [name, count] : letters.changed) HearChanged(name, count);
  for (const std::string& instance : letters.poked) {
    const auto name = job_of_uid_.find(UidOf(instance));
    if (name == job_of_uid_.end()) continue;
    jobs_.at(name->second).stale_instances = true;
    MakeReady(name->second);
  }
}

void TrainingController::Absorb(std::unique_ptr<JobWork> work) {
  --in_flight_;
  const std::string name = work->name;
  Job& job = jobs_.at(name);
  job.work = std::move(work);
  for (std::string& id : job.work->garbage) spent_.push_back(std::move(id));
  job.work->garbage.clear();
  // Its own commits woke it, too; only those of others are news.
  const bool changed = job.wakes > job.work->own_commits;
  job.wakes = 0;
  if (changed) job.stale_record = true;
  Settle(name, job, changed || job.stale_record || job.stale_instances);
}

void TrainingController::Settle(const std::string& name, Job& job, bool again) {
  JobWork& work = *job.work;
  if (work.instances.empty()) {
    running_.erase(name);
  } else {
    running_.insert(name);
  }
  if (work.revision != 0) job_of_uid_[work.job.uid] = name;
  if (work.market_waits) {
    WaitForMarket(name, job);
  } else if (const auto place = market_waiting_.find(name); place != market_waiting_.end()) {
    market_queue_.erase({place->second, name});
    market_waiting_.erase(place);
  }
  SettlePool(name, work);
  if (!job.pool.empty()) SettlePromise(name, job);
  if (work.ticket && !work.granted) {
    if (!job.grant) {
      Wait(job, work.job, *work.ticket);
    } else {
      again = true;
    }
  } else if (work.gone || (work.instances.empty() && model::IsTerminal(work.job.phase))) {
    capacity_.Release(name);
    job.grant = false;
  }
  if (work.gone && !again) {
    job_of_uid_.erase(work.job.uid);
    if (job.ready) std::erase(ready_, name);
    jobs_.erase(name);
    return;
  }
  if (work.due) Arm(name, job, *work.due);
  if (again) MakeReady(name);
}

// It takes no place in the queue for this machine before it wants one.
void TrainingController::WaitForMarket(const std::string& name, Job& job) {
  capacity_.Release(name);
  job.grant = false;
  const WallTime created = job.work->job.created;
  if (market_waiting_.emplace(name, created).second) market_queue_.emplace(created, name);
}

std::string TrainingController::MarketPlace(const std::string& name) const {
  const auto place = market_waiting_.find(name);
  if (place == market_waiting_.end()) return "";
  std::size_t before = 0;
  for (const auto& [created, other] : market_queue_) {
    if (other == name || before > kMarketPlacesTold) break;
    ++before;
  }
  if (before == 0) return "it is the first to wait for the market";
  if (before > kMarketPlacesTold) {
    return "more than " + std::to_string(kMarketPlacesTold) + " jobs wait for the market before it";
  }
  return std::to_string(before) + (before == 1 ? " job waits" : " jobs wait") +
         " for the market before it";
}

void TrainingController::Wait(Job& job, const model::TrainingJob& record,
                              fleet::Capacity::Ticket ticket) {
  enqueued_.push_back(ticket.job);
  if (capacity_.Waits(ticket.job)) return;
  capacity_.Release(ticket.job);  // the lease of an attempt that is over
  capacity_.Enqueue(std::move(ticket));
  job.waited = job.told = false;
  job.tells_at = model::QueuedSince(record) + settings_.worker.rules.show_waiting_after;
  to_tell_ = true;
}

void TrainingController::Admit() {
  while (!capacity_.Next().empty() && AdmitNext(std::string(capacity_.Next()))) {
  }
  ForgetWaiting();
}

// Thousands of waiting jobs keep their place only; the record is read again when their turn comes.
void TrainingController::ForgetWaiting() {
  for (const std::string& name : enqueued_) {
    if (!capacity_.Waits(name)) continue;
    const auto job = jobs_.find(name);
    if (job == jobs_.end()) continue;
    job->second.waited = true;
    if (capacity_.waiting() <= kWaitingKeptWhole || !job->second.work) continue;
    job->second.work->job = model::TrainingJob{};
    job->second.work->stale_record = true;
  }
  enqueued_.clear();
}

void TrainingController::Arm(const std::string& name, Job& job, WallTime due) {
  job.timer = next_timer_++;
  timers_.push({due, name, job.timer});
}

void TrainingController::FireTimers() {
  const WallTime now = ports_.clock.Wall();
  while (!timers_.empty() && timers_.top().due <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    const auto job = jobs_.find(timer.job);
    if (job == jobs_.end() || job->second.timer != timer.sequence) continue;  // superseded
    // Who decides by how far the program is looks at it.
    if (running_.contains(timer.job)) job->second.stale_instances = true;
    MakeReady(timer.job);
  }
}

void TrainingController::SweepRunning() {
  const MonoTime now = ports_.clock.Mono();
  if (running_.empty() || now - last_sweep_ < settings_.sweep_interval) return;
  last_sweep_ = now;
  for (const std::string& name : running_) {
    jobs_.at(name).stale_instances = true;
    MakeReady(name);
  }
}

void TrainingController::TellPositions() {
  const MonoTime now = ports_.clock.Mono();
  if (capacity_.waiting() == 0 || now - last_positions_ < settings_.position_interval) return;
  last_positions_ = now;
  for (const std::string& name : capacity_.Head(kPositionsTold)) {
    if (jobs_.contains(name)) MakeReady(name);
  }
}

void TrainingController::TellWaiting() {
  const MonoTime now = ports_.clock.Mono();
  if (!to_tell_ || now - last_told_ < kTellingInterval) return;
  last_told_ = now;
  to_tell_ = false;
  for (const std::string& name : capacity_.Head(kWaitingTold)) {
    const auto job = jobs_.find(name);
    if (job == jobs_.end() || job->second.told) continue;
    if (job->second.tells_at > ports_.clock.Wall()) {
      to_tell_ = true;
    } else {
      job->second.told = true;
      MakeReady(name);
    }
  }
}

void TrainingController::Dispatch() {
  std::size_t turn = ready_.size();  // jobs that are being looked at go to the back, once
  while (turn-- > 0 && in_flight_ < settings_.parallel_looks) {
    const std::string name = std::move(ready_.front());
    ready_.pop_front();
    Job& job = jobs_.at(name);
    job.ready = false;
    if (job.work) {
      Look(name, job);
    } else {
      job.stale_instances = true;  // look again when this look is over
    }
  }
}

void TrainingController::Look(const std::string& name, Job& job) {
  JobWork& work = *job.work;
  work.stale_record = work.stale_record || job.stale_record;
  work.stale_instances = work.stale_instances || job.stale_instances;
  work.granted = work.granted || job.grant;
  work.waited = job.waited;
  work.waits_for = capacity_.WaitReason(name);
  work.market_place = MarketPlace(name);
  work.pool = job.pool;
  work.near_miss = job.near_miss;
  work.pool_wanted = job.yields;
  job.stale_record = job.stale_instances = job.grant = false;
  ++in_flight_;
  // std::function wants to be copied, a unique_ptr does not.
  auto* moving = job.work.release();
  executor_.Submit([this, moving] {
    std::unique_ptr<JobWork> owned(moving);
    worker_.Run(*owned);
    inbox_.Done(std::move(owned));
  });
}

void TrainingController::KeepSpent(bool busy) {
  const std::size_t young = busy ? kSpentYoung : 0;
  if (spent_.size() <= young) return;
  const std::size_t count = std::min(spent_.size() - young, kGarbagePerTask);
  const auto end = spent_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::string> ids(spent_.begin(), end);
  spent_.erase(spent_.begin(), end);
  sweeping_ = true;
  executor_.Submit([this, ids = std::move(ids)] { inbox_.Swept(worker_.KeepDirectories(ids)); });
}

void TrainingController::CollectGarbage() {
  if (sweeping_) return;
  const bool busy = in_flight_ > 0 || !ready_.empty() || capacity_.waiting() > 0;
  KeepSpent(busy);
  if (sweeping_ || garbage_.empty()) return;
  const bool old = ports_.clock.Mono() - garbage_since_ >= kGarbageAgeMax;
  if (busy && !old && garbage_.size() < kGarbageMax) return;
  const std::size_t count = std::min(garbage_.size(), kGarbagePerTask);
  std::vector<std::string> ids(garbage_.begin(),
                               garbage_.begin() + static_cast<std::ptrdiff_t>(count));
  garbage_.erase(garbage_.begin(), garbage_.begin() + static_cast<std::ptrdiff_t>(count));
  sweeping_ = true;
  executor_.Submit([this, ids = std::move(ids)] { inbox_.Swept(worker_.RemoveDirectories(ids)); });
}

Millis TrainingController::UntilNext() {
  Millis wait = kTurnMax;
  if (!running_.empty()) {
    const auto since = std::chrono::duration_cast<Millis>(ports_.clock.Mono() - last_sweep_);
    wait = std::min(wait, settings_.sweep_interval - since);
  }
  if (capacity_.waiting() > 0) wait = std::min(wait, settings_.position_interval);
  if (to_tell_) wait = std::min(wait, kTellingInterval);
  if (!garbage_.empty() && !sweeping_) wait = std::min<Millis>(wait, kGarbageAgeMax);
  if (!timers_.empty()) wait = std::min(wait, timers_.top().due - ports_.clock.Wall());
  return std::max(wait, Millis(0));
}

}  // namespace sabia::control
