#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

#include "control/testing/world.h"
#include "env/random.h"
#include "sim/market_world.h"
#include "sim/witness.h"

namespace sabia::sim {
namespace {

using control::testing::World;
using fleet::testing::FakeProgram;
using model::TrainingJob;
using model::TrainingPhase;

constexpr double kVcpus = 2;  // of an ml.m5.large
constexpr std::int64_t kMemory = std::int64_t{8} << 30;
constexpr Millis kNotice{120'000};
constexpr Millis kHour{3'600'000};
constexpr Millis kDay = kHour * 24;
// After the busy part, a job that has not ended in the time it needs and so much more is stuck.
constexpr Millis kPatience = kDay * 60;
// The world stands still when so many turns in a row do not move the clock.
constexpr int kTurnsMax = 10'000;

fleet::MachineSize MachineOf(const WorldPlan& plan) {
  return {kVcpus * plan.instances, kMemory * plan.instances, 0};
}

control::ControllerSettings SettingsOf(const WorldPlan& plan) {
  control::ControllerSettings settings;
  // Only a sweep finds what a lost poke did not tell.
  settings.sweep_interval = plan.lost_poke_percent > 0 || plan.AgentsDie() ? kHour / 4 : kDay;
  settings.position_interval = kDay;
  settings.worker.markets = MarketsOf(plan, env::ManualClock().Wall());
  return settings;
}

enum class What {
  kUserUpdate,
  kArrival,
  kReclaim,
  kTaken,
  kAgentDeath,
  kDaemonDeath,
  kDaemonStart,
  kUserStop
};

struct Event {
  WallTime at;
  std::uint64_t number = 0;  // events of one moment happen in the order in which they were planned
  What what = What::kArrival;
  std::string name;  // of a job or an instance
  bool operator>(const Event& other) const {
    return std::tie(at, number) > std::tie(other.at, other.number);
  }
};

// What the world knows of a job, and the daemon only guesses.
struct Truth {
  bool fails = false;        // its program exits with 1
  bool limited = false;      // it may run into MaxRuntime or MaxWait
  bool stopped = false;      // its user stopped it
  bool deadline = false;     // it has a policy that can keep it
  bool excused = false;      // it found no room on this machine when it wanted it
  std::size_t attempts = 0;  // seen
};

// For the reader of a violation: what a job with a deadline did, in seconds since its creation.
std::string StoryOf(const TrainingJob& job) {
  const auto seconds = [&](const std::optional<WallTime>& time) {
    return time ? fmt::to_string((*time - job.created).count() / 1000) : std::string("-");
  };
  std::string out =
      fmt::format("{}, {} s expected, {} s until the deadline", Name(job.deadline->policy),
                  job.deadline->expected_runtime.value_or(Seconds(0)).count(),
                  job.MaxWait().value_or(Seconds(0)).count());
  for (const model::Attempt& attempt : job.attempts) {
    out += fmt::format("; {} {} from {}, program from {}, saved at {}, ended at {}: {} ({})",
                       attempt.spot ? "spot" : "on demand", attempt.zone, seconds(attempt.launched),
                       seconds(attempt.began), seconds(attempt.saved), seconds(attempt.ended),
                       attempt.end_reason, attempt.choice);
  }
  return out;
}

class Simulation {
 public:
  explicit Simulation(const WorldPlan& plan)
      : plan_(plan),
        random_(plan.seed ^ kStream),
        settings_(SettingsOf(plan)),
        world_(MachineOf(plan), settings_),
        witness_(kVcpus * plan.instances) {}

  Outcome Run();

 private:
  static constexpr std::uint64_t kStream = 0x5ab1a;  // apart from the plan's own draws

  WallTime Now() { return world_.clock.Wall(); }
  bool Percent(int percent) { return static_cast<int>(random_.Below(100)) < percent; }
  Millis Exponential(Millis mean);
  void At(Millis after, What what, std::string name = {});
  void Later(Millis mean, What what);  // when it ever happens

  void RunUntil(WallTime end, bool busy);
  bool Step(WallTime end);
  void Happen(const Event& event);
  void Arrive();
  void AddDeadline(control::testing::SubmitOptions& options, FakeProgram& program);
  void FollowMarket(const TrainingJob& job);
  void NoteContention();
  void CheckDeadline(const TrainingJob& job, const Truth& truth);
  void Reclaim();
  void TakeAway(const std::string& instance);
  void KillAgent();
  void Stop(const std::string& job);
  void Update(const std::string& job);
  void KillDaemon(bool starts_later);
  void ArmFaults();
  void NoteDeaths();
  void Settle();
  void CheckEnd(const TrainingJob& job);
  void Violation(const TrainingJob& job, const std::string& what);

  const WorldPlan plan_;
  env::SeededRandom random_;
  const control::ControllerSettings settings_;
  World world_;
  Witness witness_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_event_ = 0;
  std::map<std::string, Truth> truths_;
  WallTime controller_due_;
  int deaths_seen_ = 0;
  bool busy_ = true;
  Outcome outcome_;
};

Millis Simulation::Exponential(Millis mean) {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  const double uniform = (static_cast<double>(random_.Next() >> 11) + 0.5) * kUnit;
  return Millis(
      static_cast<std::int64_t>(std::ceil(-std::log(uniform) * static_cast<double>(mean.count()))));
}

void Simulation::At(Millis after, What what, std::string name) {
  events_.push({Now() + after, next_event_++, what, std::move(name)});
}

void Simulation::Later(Millis mean, What what) {
  if (mean > Millis(0)) At(Exponential(mean), what);
}

// The daemon dies at an effect, or one fails, over and over.
void Simulation::ArmFaults() {
  const auto within = [this](int effects) {
    return static_cast<int>(random_.Below(static_cast<std::uint64_t>(2 * effects)));
  };
  if (busy_ && plan_.effects_per_death > 0) {
    if (!world_.faults.armed())
      world_.faults.DieAt(within(plan_.effects_per_death), random_.Below(2) == 0);
  }
  if (busy_ && plan_.effects_per_failure > 0 && !world_.faults.fails()) {
    world_.faults.FailAt(within(plan_.effects_per_failure));
    ++outcome_.failed_effects;
  }
}

void Simulation::Arrive() {
  control::testing::SubmitOptions options;
  options.hosts = 1 + static_cast<int>(random_.Below(static_cast<std::uint64_t>(plan_.hosts_max)));
  options.spot = Percent(plan_.spot_percent);
  options.retries = plan_.retries;
  if (!options.spot && Percent(plan_.keeping_percent)) {
    constexpr std::int64_t kKeepAliveMax = 21'600;
    options.keep_alive = static_cast<int>(std::clamp<std::int64_t>(
        Exponential(plan_.keep_alive_mean).count() / 1000, 1, kKeepAliveMax));
  }
  if (plan_.keeping_percent > 0) options.volume = 1 + static_cast<int>(random_.Below(2));
  FakeProgram program;
  program.prepares = Millis(static_cast<std::int64_t>(random_.Below(2'000)));
  program.downloads = Millis(static_cast<std::int64_t>(random_.Below(60'000)));
  program.trains = Exponential(plan_.work_mean);
  program.stops = Exponential(Millis(20'000));
  program.uploads = Millis(static_cast<std::int64_t>(random_.Below(30'000)));
  program.checkpoint_every = plan_.checkpoint_every;
  program.ignores_orders = Percent(plan_.deaf_percent);
  Truth truth;
  truth.fails = Percent(plan_.failing_percent);
  program.exit_code = truth.fails ? 1 : 0;
  truth.limited = Percent(plan_.limited_percent);
  constexpr int kNever = 2'000'000'000;
  options.max_runtime = kNever;
  if (truth.limited) {
    const auto needs = std::max<std::int64_t>(program.trains.count() / 1000, 1);
    options.max_runtime = static_cast<int>(std::min<std::int64_t>(needs, kNever / 4));
    if (options.spot && random_.Below(2) == 0) options.max_wait = 2 * options.max_runtime;
  }
  options.checkpoints = plan_.checkpoint_every > Millis(0);
  if (options.spot && !truth.limited && Percent(plan_.deadline_percent)) {
    AddDeadline(options, program);
    truth.deadline = true;
  }
  const std::string name = fmt::format("job-{}", ++outcome_.jobs);
  truths_[name] = truth;
  world_.fleet.SetProgram(name, program);
  world_.Submit(name, options);
  if (Percent(plan_.stopped_percent)) At(Exponential(plan_.work_mean), What::kUserStop, name);
}

// A deadline that on demand can meet, and a program that is as the policies assume: it needs at
// most kWorkError more than its estimate.
void Simulation::AddDeadline(control::testing::SubmitOptions& options, FakeProgram& program) {
  constexpr std::int64_t kPercent = 100;
  const auto percent = [this](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::int64_t>(least + random_.Below(most - least + 1));
  };
  program.trains = std::max(program.trains, Millis(40'000));
  const Millis estimate = program.trains * percent(70, 130) / kPercent;
  constexpr std::int64_t kShare = 50;  // of the work, that preparing and uploading take
  program.prepares = std::min(program.prepares, estimate / kShare);
  program.downloads = std::min(program.downloads, estimate / kShare);
  program.uploads = std::min(program.uploads, estimate / kShare);
  program.stops = std::min(program.stops, Millis(100'000));
  constexpr Millis kStartAndStop{15 * 60'000};
  const Millis time = estimate * percent(160, 400) / kPercent + kStartAndStop;
  options.max_wait = static_cast<int>(std::chrono::ceil<Seconds>(time).count());
  options.max_runtime = options.max_wait;
  const auto policy = static_cast<model::DeadlinePolicy>(random_.Below(3));
  options.deadline = model::Deadline{policy, std::chrono::ceil<Seconds>(estimate)};
}

// The world's own view of the market: what was launched was there, and what is reclaimed is taken
// away, whatever the daemon does.
void Simulation::FollowMarket(const TrainingJob& job) {
  const auto truth = truths_.find(job.name);
  if (truth == truths_.end() || job.attempts.size() <= truth->second.attempts) return;
  truth->second.attempts = job.attempts.size();
  const model::Attempt& attempt = job.attempts.back();
  if (job.attempts.size() > 1 && job.attempts[job.attempts.size() - 2].end_reason == "moved")
    ++outcome_.moves;
  const auto& markets = *settings_.worker.markets;
  if (!attempt.spot || !markets.Decides(fleet::InstancesOf(job))) return;
  const auto gang = markets.GangIn(attempt.zone, fleet::InstancesOf(job));
  if (!spot::CanLaunch(*gang, attempt.launched, kNotice)) {
    return Violation(job, "was launched in a zone without capacity: '" + attempt.zone + "'");
  }
  const auto event =
      spot::NextEvent(*gang, {attempt.launched, 1}, attempt.launched, {kNotice, std::nullopt});
  if (!event) return;
  for (int host = 1; host <= job.InstanceCount(); ++host)
    At(event->reclaim_at - Now(), What::kTaken, model::InstanceId(job.uid, attempt.number, host));
}

// A policy cannot keep a deadline on a machine that has no room, or while another job is first in
// the queue for it.
void Simulation::NoteContention() {
  if (plan_.deadline_percent == 0) return;
  const auto queued = [](const TrainingJob& job) { return job.phase == TrainingPhase::kQueued; };
  bool full = false;
  for (const auto& [name, job] : witness_.jobs()) {
    const double needs = kVcpus * job.InstanceCount();
    full = full || (queued(job) && witness_.leased_vcpus() + needs > kVcpus * plan_.instances);
  }
  if (!full) return;
  for (const auto& [name, job] : witness_.jobs()) {
    if (job.deadline && queued(job)) truths_[name].excused = true;
  }
}

void Simulation::CheckDeadline(const TrainingJob& job, const Truth& truth) {
  if (!truth.deadline) return;
  if (truth.excused || truth.stopped || truth.fails || !plan_.KeepsDeadlines()) return;
  const bool kept =
      job.phase == TrainingPhase::kCompleted && *job.training_end <= job.created + *job.MaxWait();
  if (!kept) {
    return Violation(job, "missed its deadline, which its policy could keep: " + StoryOf(job));
  }
  ++outcome_.deadlines_kept;
}

// Of the places that the machine has for instances, one is reclaimed: whoever is there is
// interrupted.
void Simulation::Reclaim() {
  std::vector<const TrainingJob*> running;
  for (const auto& [name, job] : witness_.jobs()) {
    const bool has_instances = !job.attempts.empty() && !job.attempts.back().ended &&
                               job.phase != TrainingPhase::kStopping &&
                               job.phase != TrainingPhase::kFailing &&
                               !model::IsTerminal(job.phase);
    if (has_instances && job.attempts.back().spot) running.push_back(&job);
  }
  const auto place = random_.Below(static_cast<std::uint64_t>(plan_.instances));
  if (place >= running.size()) return;
  const TrainingJob job = *running[place];
  const int attempt = job.attempts.back().number;
  if (job.interrupt_attempt == attempt) return;
  ++outcome_.interruptions;
  world_.Edit(job.name, [&](TrainingJob& edited) {
    edited.interrupt_attempt = attempt;
    edited.reclaim_at = Now() + kNotice;
  });
  for (int host = 1; host <= job.InstanceCount(); ++host)
    At(kNotice, What::kTaken, model::InstanceId(job.uid, attempt, host));
}

// The end of the notice: what still runs there is gone.
void Simulation::TakeAway(const std::string& instance) {
  const auto running = world_.fleet.Running();
  if (std::find(running.begin(), running.end(), instance) != running.end())
    world_.fleet.Crash(instance);
}

void Simulation::KillAgent() {
  const std::vector<std::string> running = world_.fleet.Running();
  if (running.empty()) return;
  world_.fleet.Crash(running[random_.Below(running.size())]);
  ++outcome_.agent_deaths;
}

void Simulation::Stop(const std::string& name) {
  const auto job = witness_.jobs().find(name);
  if (job == witness_.jobs().end() || model::IsTerminal(job->second.phase) ||
      job->second.stop_requested) {
    return;
  }
  truths_[name].stopped = true;
  world_.Edit(name, [&](TrainingJob& edited) { edited.stop_requested = Now(); });
}

// The period of a pool becomes another one, while it waits.
void Simulation::Update(const std::string& name) {
  const auto job = witness_.jobs().find(name);
  if (job == witness_.jobs().end() || !model::HoldsPool(job->second)) return;
  world_.Edit(name, [&](TrainingJob& edited) {
    const std::int64_t period = edited.KeepAlive().count();
    edited.request.Edit()["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] =
        random_.Below(2) == 0 ? 0 : 2 * period;
    edited.warm_pool->updated = Now();
  });
}

void Simulation::KillDaemon(bool starts_later) {
  if (!world_.alive()) return;
  world_.KillDaemon();
  const auto down = static_cast<std::uint64_t>(plan_.daemon_down.count());
  At(Millis(starts_later ? static_cast<std::int64_t>(random_.Below(down + 1)) : 0),
     What::kDaemonStart);
}

void Simulation::Happen(const Event& event) {
  switch (event.what) {
    case What::kArrival:
      if (!busy_) return;
      Arrive();
      return Later(plan_.arrival_mean, What::kArrival);
    case What::kReclaim:
      if (!busy_) return;
      Reclaim();
      return Later(plan_.interruption_mean / plan_.instances, What::kReclaim);
    case What::kTaken:
      return TakeAway(event.name);
    case What::kAgentDeath:
      if (!busy_) return;
      KillAgent();
      return Later(plan_.agent_death_mean / plan_.instances, What::kAgentDeath);
    case What::kDaemonDeath:
      if (!busy_) return;
      KillDaemon(true);
      return Later(plan_.daemon_death_mean, What::kDaemonDeath);
    case What::kDaemonStart:
      if (!world_.alive()) world_.StartDaemon();
      controller_due_ = Now();
      return;
    case What::kUserStop:
      return Stop(event.name);
    case What::kUserUpdate:
      return Update(event.name);
  }
}

void Simulation::Violation(const TrainingJob& job, const std::string& what) {
  outcome_.violations.push_back(fmt::format("{} ({}): {}", job.name, Name(job.phase), what));
}

// A job has ended as what happened to it allows.
void Simulation::CheckEnd(const TrainingJob& job) {
  const Truth truth = truths_[job.name];
  const bool finished = world_.fleet.ProgressOf(job.name).finished;
  CheckDeadline(job, truth);
  for (const model::Attempt& attempt : job.attempts) {
    if (attempt.end_reason == "interrupted" && !attempt.zone.empty()) ++outcome_.market_reclaims;
  }
  if (job.warm_pool && job.warm_pool->retained_from) ++outcome_.pools;
  if (job.warm_pool && !job.warm_pool->reused_by.empty()) ++outcome_.reuses;
  world_.CheckEnded(job.name, outcome_.violations);
  switch (job.phase) {
    case TrainingPhase::kCompleted:
      ++outcome_.completed;
      if (!finished) Violation(job, "completed, but its program never came to its end");
      if (truth.fails) Violation(job, "completed, but its program fails");
      break;
    case TrainingPhase::kFailed:
      ++outcome_.failed;
      // A gang whose host died, a machine that loses it again and again, an effect that failed.
      if (!truth.fails && !plan_.AgentsDie() && plan_.effects_per_failure == 0 &&
          plan_.deaf_percent == 0) {
        Violation(job, "failed for no reason: " + job.failure_reason);
      }
      break;
    default:
      ++outcome_.stopped;
      if (!truth.stopped && !truth.limited && !truth.deadline)
        Violation(job, "stopped, and nobody asked for it");
  }
  if (truth.stopped && !job.stop_requested) Violation(job, "the wish to stop it was forgotten");
}

// Jobs that ended are checked, and forgotten when nothing of them is left.
void Simulation::Settle() {
  for (const std::string& name : witness_.TakeKept()) {
    constexpr int kUpdatePercent = 20;
    if (Percent(kUpdatePercent))
      At(Exponential(plan_.keep_alive_mean / 2 + Millis(1)), What::kUserUpdate, name);
  }
  for (const std::string& name : witness_.TakeEnded()) {
    const TrainingJob job = witness_.jobs().at(name);
    CheckEnd(job);
    witness_.Forget(name);
    truths_.erase(name);
    world_.Forget(name);
  }
}

void Simulation::NoteDeaths() {
  if (world_.restarts() == deaths_seen_) return;
  outcome_.daemon_deaths += static_cast<std::uint64_t>(world_.restarts() - deaths_seen_);
  deaths_seen_ = world_.restarts();
}

// The next moment at which something happens; false when there is none before the end.
bool Simulation::Step(WallTime end) {
  std::optional<WallTime> next = world_.fleet.NextDue();
  if (!events_.empty()) next = std::min(next.value_or(events_.top().at), events_.top().at);
  if (world_.alive()) next = std::min(next.value_or(controller_due_), controller_due_);
  if (!next || *next >= end) return false;
  if (*next > Now()) world_.clock.Advance(*next - Now());
  while (!events_.empty() && events_.top().at <= Now()) {
    const Event event = events_.top();
    events_.pop();
    Happen(event);
  }
  world_.fleet.Tick();
  ArmFaults();
  if (world_.alive()) controller_due_ = Now() + world_.Turn();
  NoteDeaths();
  NoteContention();
  Settle();
  return true;
}

void Simulation::RunUntil(WallTime end, bool busy) {
  busy_ = busy;
  int turns = 0;
  WallTime last = Now();
  while (outcome_.violations.empty() && witness_.violations().empty()) {
    if (!busy && truths_.empty() && world_.fleet.Running().empty()) return;
    if (!Step(end)) break;
    turns = Now() == last ? turns + 1 : 0;
    last = Now();
    if (turns > kTurnsMax) {
      outcome_.violations.push_back("the clock stands still");
      return;
    }
  }
  if (busy && Now() < end) world_.clock.Advance(end - Now());
}

Outcome Simulation::Run() {
  world_.records.OnChange([this](const store::Change& change, const store::Resource* becomes) {
    witness_.Saw(change, becomes, Now());
    if (becomes == nullptr || change.resource.kind != store::Kind::kTrainingJob) return;
    if (const auto job = witness_.jobs().find(becomes->name); job != witness_.jobs().end())
      FollowMarket(job->second);
  });
  world_.loses_poke = [this] { return busy_ && Percent(plan_.lost_poke_percent); };
  const WallTime began = Now();
  At(Millis(0), What::kArrival);
  Later(plan_.interruption_mean / plan_.instances, What::kReclaim);
  Later(plan_.agent_death_mean / plan_.instances, What::kAgentDeath);
  Later(plan_.daemon_death_mean, What::kDaemonDeath);
  controller_due_ = Now();
  RunUntil(Now() + plan_.length, true);
  // Peace: whatever happened, every job must end now.
  world_.faults.Never();
  if (!world_.alive()) world_.StartDaemon();
  controller_due_ = Now();
  RunUntil(Now() + plan_.work_mean * 100 + kPatience, false);
  for (const auto& [name, truth] : truths_) {
    const auto job = witness_.jobs().find(name);
    if (job != witness_.jobs().end() && outcome_.violations.empty() &&
        witness_.violations().empty()) {
      Violation(job->second, "never ends");
    }
  }
  if (outcome_.violations.empty() && witness_.violations().empty())
    outcome_.violations = world_.Violations();
  outcome_.violations.insert(outcome_.violations.end(), witness_.violations().begin(),
                             witness_.violations().end());
  outcome_.length = Now() - began;
  outcome_.instance_hours = plan_.instances * static_cast<double>(outcome_.length.count()) /
                            static_cast<double>(kHour.count());
  outcome_.digest = witness_.digest();
  outcome_.commits = witness_.commits();
  return outcome_;
}

}  // namespace

void Outcome::Add(const Outcome& other) {
  commits += other.commits;
  jobs += other.jobs;
  completed += other.completed;
  failed += other.failed;
  stopped += other.stopped;
  interruptions += other.interruptions;
  agent_deaths += other.agent_deaths;
  daemon_deaths += other.daemon_deaths;
  failed_effects += other.failed_effects;
  market_reclaims += other.market_reclaims;
  moves += other.moves;
  deadlines_kept += other.deadlines_kept;
  pools += other.pools;
  reuses += other.reuses;
  instance_hours += other.instance_hours;
}

Outcome Simulate(const WorldPlan& plan) { return Simulation(plan).Run(); }

}  // namespace sabia::sim
