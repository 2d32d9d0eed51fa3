#include "control/tuning_controller.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace sabia::control {
namespace {

// Longest sleep of the loop: a jump of the wall clock is noticed after that.
constexpr Millis kTurnMax{60'000};

bool AllOf(std::string_view text, std::string_view digits) {
  return text.find_first_not_of(digits) == std::string_view::npos;
}

}  // namespace

std::optional<std::string> OwnerByName(std::string_view training_job) {
  constexpr std::size_t kHash = 8;
  constexpr std::size_t kNumberMin = 3;
  if (training_job.size() < kHash + kNumberMin + 3) return {};
  const std::size_t hash = training_job.size() - kHash;
  if (training_job[hash - 1] != '-') return {};
  if (!AllOf(training_job.substr(hash), "0123456789abcdef")) return {};
  const std::string_view rest = training_job.substr(0, hash - 1);
  const std::size_t dash = rest.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return {};
  const std::string_view number = rest.substr(dash + 1);
  if (number.size() < kNumberMin || !AllOf(number, "0123456789")) return {};
  return std::string(rest.substr(0, dash));
}

TuningController::TuningController(const TuningPorts& ports, Executor& executor,
                                   const TuningControllerSettings& settings)
    : ports_(ports), settings_(settings), executor_(executor), worker_(ports, settings.worker) {}

TuningController::~TuningController() { Stop(); }

Status TuningController::Recover() {
  ASSIGN_OR_RETURN(const std::vector<store::Resource> rows,
                   ports_.records.Live(store::Kind::kTuningJob));
  const std::lock_guard lock(mutex_);
  for (const store::Resource& row : rows) letters_.changed.insert(row.name);
  if (!rows.empty()) LogInfo("took over {} tuning jobs", rows.size());
  return {};
}

void TuningController::Start() {
  thread_ = std::thread([this] {
    while (true) {
      const Millis wait = Turn();
      std::unique_lock lock(mutex_);
      arrived_.wait_for(lock, wait, [this] { return closed_ || !letters_.empty(); });
      if (closed_) return;
    }
  });
}

void TuningController::Stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  std::unique_lock lock(mutex_);
  while (in_flight_ > 0) {
    arrived_.wait(lock, [this] { return !letters_.done.empty(); });
    in_flight_ -= static_cast<int>(letters_.done.size());
    letters_.done.clear();
  }
}

void TuningController::RecordChanged(store::Kind kind, const std::string& name) {
  const bool tuning = kind == store::Kind::kTuningJob;
  if (!tuning && kind != store::Kind::kTrainingJob) return;
  const auto owner = tuning ? std::nullopt : OwnerByName(name);
  if (!tuning && !owner) return;
  const std::lock_guard lock(mutex_);
  if (tuning) {
    letters_.changed.insert(name);
  } else {
    letters_.trials[*owner].insert(name);
  }
  arrived_.notify_one();
}

Millis TuningController::Turn() {
  Letters letters;
  {
    const std::lock_guard lock(mutex_);
    letters = std::exchange(letters_, Letters{});
  }
  Hear(letters);
  for (std::unique_ptr<TuningWork>& work : letters.done) Absorb(std::move(work));
  FireTimers();
  Dispatch();
  return UntilNext();
}

// Jobs take turns: one that is busy all the time does not starve the others.
void TuningController::MakeReady(const std::string& name, Job& job) {
  if (job.ready) return;
  job.ready = true;
  ready_.push_back(name);
}

void TuningController::Hear(Letters& letters) {
  for (const std::string& name : letters.changed) {
    const auto [entry, fresh] = jobs_.try_emplace(name);
    Job& job = entry->second;
    if (fresh) {
      job.work = std::make_unique<TuningWork>();
      job.work->name = name;
    }
    job.stale_record = true;
    job.again = true;
    if (job.work) MakeReady(name, job);
  }
  for (auto& [name, trials] : letters.trials) {
    const auto job = jobs_.find(name);
    if (job == jobs_.end()) continue;
    job->second.changed.merge(trials);
    job->second.again = true;
    if (job->second.work) MakeReady(name, job->second);
  }
}

void TuningController::Absorb(std::unique_ptr<TuningWork> work) {
  --in_flight_;
  const std::string name = work->name;
  Job& job = jobs_.at(name);
  job.work = std::move(work);
  job.due = job.work->due;
  if (job.again) {
    MakeReady(name, job);
  } else if (job.work->gone) {
    jobs_.erase(name);
  }
}

void TuningController::FireTimers() {
  const WallTime now = ports_.clock.Wall();
  for (auto& [name, job] : jobs_) {
    if (!job.work || !job.due || *job.due > now) continue;
    job.stale_trials = true;
    MakeReady(name, job);
  }
}

void TuningController::Dispatch() {
  while (!ready_.empty() && in_flight_ < settings_.parallel_looks) {
    Job& job = jobs_.at(ready_.front());
    ready_.pop_front();
    job.ready = false;
    Look(job);
  }
}

void TuningController::Look(Job& job) {
  job.work->stale_record = job.work->stale_record || job.stale_record;
  job.work->stale_trials = job.work->stale_trials || job.stale_trials;
  job.work->changed.merge(job.changed);
  job.changed.clear();
  job.stale_record = job.stale_trials = job.again = false;
  job.due.reset();
  ++in_flight_;
  // std::function wants to be copied, a unique_ptr does not.
  auto* moving = job.work.release();
  executor_.Submit([this, moving] {
    std::unique_ptr<TuningWork> owned(moving);
    worker_.Run(*owned);
    const std::lock_guard lock(mutex_);
    letters_.done.push_back(std::move(owned));
    arrived_.notify_one();
  });
}

Millis TuningController::UntilNext() const {
  Millis wait = kTurnMax;
  for (const auto& [name, job] : jobs_) {
    if (job.work && job.due) wait = std::min(wait, *job.due - ports_.clock.Wall());
  }
  return std::max(wait, Millis(0));
}

}  // namespace sabia::control
