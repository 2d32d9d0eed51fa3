#include "fleet/testing/fake_fleet.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabia::fleet::testing {
namespace {

using model::AgentPhase;
using model::StopReason;

bool HasEnded(const model::Report& report) { return report.exit_code.has_value(); }

bool KeepsArtifacts(StopReason reason) {
  return reason != StopReason::kInterrupted && reason != StopReason::kPeerLost;
}

}  // namespace

void FakeFleet::SetProgram(const std::string& job, FakeProgram program) {
  const std::lock_guard lock(mutex_);
  programs_[job] = program;
}

const FakeProgram& FakeFleet::ProgramOf(const Agent& agent) {
  return programs_[agent.spec.job_name];
}

void FakeFleet::ChooseProgram(std::function<FakeProgram(const model::InstanceSpec&)> choose) {
  const std::lock_guard lock(mutex_);
  choose_ = std::move(choose);
}

void FakeFleet::OnPoke(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock(mutex_);
  on_poke_ = std::move(listener);
}

void FakeFleet::OnExit(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock(mutex_);
  on_exit_ = std::move(listener);
}

void FakeFleet::Tick() {
  std::set<std::string> told;
  std::set<std::string> ended;
  {
    const std::lock_guard lock(mutex_);
    const WallTime now = clock_.Wall();
    std::vector<std::string> ready;
    for (const auto& [time, id] : due_) {
      if (time > now) break;
      ready.push_back(id);
    }
    for (const std::string& id : ready) {
      Agent& agent = agents_[id];
      if (Act(id, agent)) told.insert(id);
      if (!agent.alive) ended.insert(id);
      // One that is due already waits for orders.
      const bool waits = !agent.alive || agent.due <= now;
      WakeAt(id, agent, waits ? std::nullopt : std::optional(agent.due));
    }
  }
  Notify(told, ended);
}

std::optional<WallTime> FakeFleet::NextDue() {
  const std::lock_guard lock(mutex_);
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void FakeFleet::WakeAt(const std::string& id, Agent& agent, std::optional<WallTime> time) {
  if (agent.wakes) due_.erase({*agent.wakes, id});
  agent.wakes = time;
  if (time) due_.emplace(*time, id);
}

FakeFleet::Progress FakeFleet::ProgressOf(const std::string& job) {
  const std::lock_guard lock(mutex_);
  return progress_[job];
}

void FakeFleet::Forget(const std::string& job) {
  const std::lock_guard lock(mutex_);
  programs_.erase(job);
  progress_.erase(job);
}

void FakeFleet::Notify(const std::set<std::string>& told, const std::set<std::string>& ended) {
  std::function<void(const std::string&)> poke;
  std::function<void(const std::string&)> exit;
  {
    const std::lock_guard lock(mutex_);
    poke = on_poke_;
    exit = on_exit_;
  }
  for (const std::string& id : told) {
    if (poke) poke(id);
  }
  for (const std::string& id : ended) {
    if (exit) exit(id);
  }
}

bool FakeFleet::Act(const std::string& id, Agent& agent) {
  if (ProgramOf(agent).never_comes_up) {
    agent.alive = false;
    live_hosts_.erase({agent.spec.job_name, agent.spec.host});
    own_.erase(id);
    return false;
  }
  bool changed = false;
  if (!agent.report) {
    changed = true;
    agent.report.emplace();
    agent.report->restored_files = ProgramOf(agent).restored_files;
    Enter(agent, AgentPhase::kPreparing, ProgramOf(agent).prepares);
  }
  constexpr int kPhasesPerTick = 16;
  for (int i = 0; i < kPhasesPerTick && agent.alive; ++i) {
    if (!Obey(id, agent) && !Proceed(id, agent)) break;
    changed = true;
  }
  return changed;
}

void FakeFleet::Enter(Agent& agent, AgentPhase phase, Millis takes) {
  agent.report->phase = phase;
  agent.report->began.emplace(phase, clock_.Wall());
  agent.due = clock_.Wall() + takes;
}

// As the real agent: a single host goes on to upload by itself, one of several waits for orders,
// and what is taken away keeps no artifacts.
void FakeFleet::Exit(const std::string& id, Agent& agent, int code) {
  agent.report->exit_code = code;
  agent.report->ended_in_grace = true;
  if (!KeepsArtifacts(agent.report->stopped_for) || agent.orders.dismiss) return Finish(id, agent);
  const bool alone = agent.spec.upload_on_exit;
  Enter(agent, alone ? AgentPhase::kUploading : AgentPhase::kExited,
        alone ? ProgramOf(agent).uploads : Millis(0));
}

void FakeFleet::Finish(const std::string& id, Agent& agent) {
  Enter(agent, AgentPhase::kDone, Millis(0));
  agent.report->stays = agent.spec.stays;
  live_hosts_.erase({agent.spec.job_name, agent.spec.host});
  if (agent.spec.stays) return;
  agent.alive = false;
  own_.erase(id);
}

// The first host of a gang speaks for all.
void FakeFleet::Save(Agent& agent) {
  const FakeProgram& program = ProgramOf(agent);
  if (!agent.report || program.checkpoint_every <= Millis(0) || agent.spec.host != "algo-1") return;
  const auto began = agent.report->began.find(AgentPhase::kTraining);
  if (began == agent.report->began.end()) return;
  Progress& progress = progress_[agent.spec.job_name];
  const Millis done = std::min(clock_.Wall() - began->second, program.trains - progress.saved);
  const Millis kept = done / program.checkpoint_every * program.checkpoint_every;
  progress.saved += kept;
  if (kept > Millis(0)) {
    agent.report->checkpoint_synced_at = began->second + kept;
    agent.report->checkpoint_written_at = began->second + kept;
  }
}

bool FakeFleet::Obey(const std::string& id, Agent& agent) {
  model::Report& report = *agent.report;
  const FakeProgram& program = ProgramOf(agent);
  if (program.ignores_orders || agent.orders.stop == StopReason::kNone) return false;
  if (HasEnded(report) || report.stopped_for != StopReason::kNone) return false;
  report.stopped_for = agent.orders.stop;
  Save(agent);
  if (!report.began.contains(AgentPhase::kTraining)) {
    Finish(id, agent);  // nothing runs yet
  } else {
    Enter(agent, AgentPhase::kStopping, program.stops);
  }
  return true;
}

void FakeFleet::TellFinalMetrics(Agent& agent) {
  const std::vector<double>& losses = ProgramOf(agent).losses;
  if (losses.empty()) return;
  agent.report->metrics = {{"loss", losses.back(), agent.report->began.at(AgentPhase::kTraining)}};
}

bool FakeFleet::Proceed(const std::string& id, Agent& agent) {
  model::Report& report = *agent.report;
  const FakeProgram& program = ProgramOf(agent);
  if (clock_.Wall() < agent.due) return false;
  switch (report.phase) {
    case AgentPhase::kPreparing:
      Enter(agent, AgentPhase::kDownloading, program.downloads);
      return true;
    case AgentPhase::kDownloading:
      Enter(agent, AgentPhase::kTraining, program.trains - progress_[agent.spec.job_name].saved);
      for (const double loss : program.losses) {
        agent.metrics += fmt::format("{{\"name\":\"loss\",\"value\":{},\"time\":{}}}\n", loss,
                                     ToUnixMillis(clock_.Wall()));
      }
      return true;
    case AgentPhase::kTraining:
      TellFinalMetrics(agent);
      progress_[agent.spec.job_name].finished = true;
      Exit(id, agent, program.exit_code);
      return true;
    case AgentPhase::kStopping: {
      constexpr int kTerminated = 143;
      TellFinalMetrics(agent);
      Exit(id, agent, kTerminated);
      return true;
    }
    case AgentPhase::kExited:
      if (agent.orders.dismiss || !KeepsArtifacts(agent.orders.stop)) {
        Finish(id, agent);
      } else if (agent.orders.upload) {
        Enter(agent, AgentPhase::kUploading, program.uploads);
      } else {
        return false;
      }
      return true;
    case AgentPhase::kUploading:
      report.model_uploaded = report.stopped_for != StopReason::kNone || program.exit_code == 0;
      Finish(id, agent);
      return true;
    case AgentPhase::kDone:
      return false;
  }
  return false;
}

void FakeFleet::Crash(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = agents_.find(id);
    if (found == agents_.end() || !found->second.alive) return;
    found->second.alive = false;
    if (const auto& report = found->second.report;
        report && !HasEnded(*report) && report->stopped_for == StopReason::kNone) {
      Save(found->second);
    }
    live_hosts_.erase({found->second.spec.job_name, found->second.spec.host});
    WakeAt(id, found->second, std::nullopt);
    if (own_.erase(id) == 0) return;
  }
  Notify({}, {id});
}

void FakeFleet::DaemonDied() {
  const std::lock_guard lock(mutex_);
  own_.clear();
  on_poke_ = nullptr;
  on_exit_ = nullptr;
}

std::vector<std::string> FakeFleet::Running() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [id, agent] : agents_) {
    if (agent.alive) out.push_back(id);
  }
  return out;
}

std::vector<std::string> FakeFleet::violations() {
  const std::lock_guard lock(mutex_);
  return violations_;
}

std::size_t FakeFleet::starts(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return starts_[id];
}

model::Orders FakeFleet::OrdersOf(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return agents_[id].orders;
}

// The agent of the one leaves its directory for another.
void FakeFleet::GoOn(const WaitingAgent& waiting) {
  const auto found = agents_.find(waiting.id);
  if (found == agents_.end() || !found->second.alive) return;  // a new one comes up instead
  if (!found->second.report || !found->second.report->stays)
    violations_.push_back(waiting.id + " was called away from its work");
  found->second.alive = false;
  WakeAt(waiting.id, found->second, std::nullopt);
  own_.erase(waiting.id);
  ++warm_starts_;
}

std::size_t FakeFleet::warm_starts() {
  const std::lock_guard lock(mutex_);
  return warm_starts_;
}

Status FakeFleet::Start(const AgentName& name) {
  const std::lock_guard lock(mutex_);
  if (!own_.insert(name.id).second) return {};
  Agent& agent = agents_[name.id];
  if (agent.alive || !agent.prepared) {  // it finds the lock taken, or nothing to do
    own_.erase(name.id);
    return {};
  }
  if (agent.report) violations_.push_back(name.id + " was started again after it had reported");
  const auto [other, first] =
      live_hosts_.try_emplace({agent.spec.job_name, agent.spec.host}, name.id);
  if (!first)
    violations_.push_back(fmt::format("{} was started while {} ran", name.id, other->second));
  ++starts_[name.id];
  agent.alive = true;
  if (name.waiting) GoOn(*name.waiting);
  WakeAt(name.id, agent, clock_.Wall());
  return {};
}

bool FakeFleet::Runs(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return own_.contains(id);
}

Status FakeFleet::Kill(const AgentName& agent, int /*pid*/) {
  Crash(agent.id);
  return {};
}

Status FakeFleet::Prepare(const std::string& id, const Preparation& preparation) {
  const std::lock_guard lock(mutex_);
  agents_[id].prepared = true;
  agents_[id].spec = preparation.spec;
  const std::string& job = preparation.spec.job_name;
  if (choose_ && !programs_.contains(job)) programs_[job] = choose_(preparation.spec);
  return {};
}

Status FakeFleet::Give(const std::string& id, const model::Orders& orders) {
  const std::lock_guard lock(mutex_);
  Agent& agent = agents_[id];
  agent.orders = orders;
  if (agent.alive) WakeAt(id, agent, clock_.Wall());
  return {};
}

Result<Observation> FakeFleet::Observe(const std::string& id, bool alive) {
  const std::lock_guard lock(mutex_);
  Observation seen;
  const auto found = agents_.find(id);
  if (found == agents_.end()) return seen;
  const Agent& agent = found->second;
  seen.locked = alive || agent.alive;
  seen.report = agent.report;
  if (seen.report && agent.alive && seen.report->phase == AgentPhase::kTraining) {
    const Millis every = ProgramOf(agent).checkpoint_every;
    const WallTime began = seen.report->began.at(AgentPhase::kTraining);
    const bool saves = every > Millis(0) && agent.spec.host == "algo-1";
    if (saves && clock_.Wall() - began >= every) {
      seen.report->checkpoint_synced_at = began + (clock_.Wall() - began) / every * every;
      seen.report->checkpoint_written_at = seen.report->checkpoint_synced_at;
    }
  }
  seen.orders = agent.orders;
  seen.metrics_bytes = agent.metrics.size();
  return seen;
}

Result<std::string> FakeFleet::ReadMetrics(const std::string& id, std::uint64_t from,
                                           std::size_t limit) {
  const std::lock_guard lock(mutex_);
  const std::string& metrics = agents_[id].metrics;
  return from >= metrics.size() ? "" : metrics.substr(from, limit);
}

Status FakeFleet::Remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = agents_.find(id);
  if (found == agents_.end()) return {};
  if (found->second.alive) violations_.push_back(id + " lost its directory while it ran");
  WakeAt(id, found->second, std::nullopt);
  starts_.erase(id);
  agents_.erase(found);
  return {};
}

Result<std::vector<std::string>> FakeFleet::List() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, agent] : agents_) ids.push_back(id);
  return ids;
}

}  // namespace sabia::fleet::testing
