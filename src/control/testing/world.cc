#include "control/testing/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "store/training_job_row.h"
#include "store/tuning_job_row.h"

namespace sabia::control::testing {
namespace {

json::object RequestOf(const std::string& name, const SubmitOptions& options) {
  json::object stopping{{"MaxRuntimeInSeconds", options.max_runtime}};
  if (options.max_wait > 0) stopping["MaxWaitTimeInSeconds"] = options.max_wait;
  json::object request{
      {"TrainingJobName", name},
      {"RoleArn", "arn:aws:iam::123456789012:role/job"},
      {"AlgorithmSpecification",
       {{"TrainingImage", "sabia/python:3"}, {"TrainingInputMode", "File"}}},
      {"OutputDataConfig", {{"S3OutputPath", "s3://out/"}, {"CompressionType", "GZIP"}}},
      {"EnableManagedSpotTraining", options.spot},
      {"ResourceConfig",
       {{"InstanceCount", options.hosts}, {"InstanceType", options.instance_type}}},
      {"StoppingCondition", stopping}};
  if (options.checkpoints) request["CheckpointConfig"] = {{"S3Uri", "s3://out/checkpoints"}};
  json::object& resources = request["ResourceConfig"].as_object();
  if (options.keep_alive > 0) resources["KeepAlivePeriodInSeconds"] = options.keep_alive;
  if (options.volume > 0) resources["VolumeSizeInGB"] = options.volume;
  if (options.retries > 0) request["RetryStrategy"] = {{"MaximumRetryAttempts", options.retries}};
  if (!options.channel.empty()) {
    const json::object source{{"S3DataType", "S3Prefix"}, {"S3Uri", options.channel}};
    request["InputDataConfig"] = json::array{json::object{
        {"ChannelName", "train"}, {"DataSource", json::object{{"S3DataSource", source}}}}};
  }
  return request;
}

std::string UidOf(std::size_t number) { return fmt::format("{:012x}", number); }

}  // namespace

World::World(fleet::MachineSize machine, const ControllerSettings& settings)
    : settings_(settings), offer_{machine, {.overcommit = 1}, model::InstanceCatalog::BuiltIn()} {
  SetLogLevel(LogLevel::kError);
  StartDaemon();
}

World::~World() = default;

void World::StartDaemon() {
  ControllerSettings settings = settings_;
  settings.worker.abort_on_illegal_step = true;
  settings.worker.spec.endpoint = "http://127.0.0.1:1";
  controller_ =
      std::make_unique<TrainingController>(Ports{faulty_records_, faulty_files_, faulty_launcher_,
                                                 channels, faulty_metrics_, sessions, clock},
                                           offer_, executor_, store::Paths("/fake"), settings);
  tuning_ = std::make_unique<TuningController>(TuningPorts{faulty_records_, facts, clock},
                                               executor_, TuningControllerSettings{});
  records.OnCommit([this](store::Kind kind, const std::string& name) {
    controller_->RecordChanged(kind, name);
    tuning_->RecordChanged(kind, name);
  });
  const auto poke = [this](const std::string& id) {
    if (!loses_poke || !loses_poke()) controller_->Poke(id);
  };
  fleet.OnPoke(poke);
  fleet.OnExit(poke);
  CHECK(controller_->Recover().has_value());
  CHECK(tuning_->Recover().has_value());
}

void World::KillDaemon() {
  if (!controller_) return;
  records.OnCommit(nullptr);
  fleet.DaemonDied();
  // No Stop(): the loop is not running, and looks that died never report back.
  controller_->Abandon();
  controller_.reset();
  tuning_->Abandon();
  tuning_.reset();
  ++restarts_;
}

void World::Submit(const std::string& name, const SubmitOptions& options) {
  model::TrainingJob job;
  job.uid = UidOf(++submissions_);
  job.name = name;
  job.arn = "arn:aws:sagemaker:us-west-2:123456789012:training-job/" + name;
  job.region = "us-west-2";
  job.account = "123456789012";
  job.created = job.modified = clock.Wall();
  job.request = RequestOf(name, options);
  job.deadline = options.deadline;
  EnterStatus(job, "Starting", "Starting the training job", clock.Wall());
  submitted_.push_back(name);
  // As the API does it: with the record itself, while there is a controller.
  const bool hand_over = controller_ != nullptr;
  CHECK(records.Commit({{store::Change::Op::kInsert, store::RowOf(job, 0), {}, {}, hand_over}})
            .has_value());
  if (hand_over) controller_->Accepted(std::make_unique<model::TrainingJob>(std::move(job)));
}

void World::SubmitTuning(const std::string& name, json::object request, std::int64_t seed) {
  model::TuningJob job;
  job.uid = UidOf(++submissions_);
  job.name = name;
  job.region = "us-west-2";
  job.account = "123456789012";
  job.arn = model::TuningJobArn(job.region, job.account, name);
  job.created = job.modified = clock.Wall();
  job.request = std::move(request);
  job.seed = seed;
  tunings_.push_back(name);
  CHECK(records.Commit({{store::Change::Op::kInsert, store::RowOf(job, 0), {}, {}}}).has_value());
}

model::TuningJob World::Tuning(const std::string& name) {
  const auto row = records.Get(store::Kind::kTuningJob, name);
  CHECK(row.has_value());
  auto job = store::TuningJobOf(*row);
  CHECK(job.has_value());
  return std::move(*job);
}

void World::EditTuning(const std::string& name,
                       const std::function<void(model::TuningJob&)>& edit) {
  const auto row = records.Get(store::Kind::kTuningJob, name);
  CHECK(row.has_value());
  model::TuningJob job = Tuning(name);
  edit(job);
  CHECK(records.Commit({{store::Change::Op::kUpdate, store::RowOf(job, row->revision), {}, {}}})
            .has_value());
}

std::vector<model::TuningTrial> World::Trials(const std::string& tuning_job) {
  std::vector<model::TuningTrial> trials;
  const auto rows = records.Children(store::Kind::kTuningTrial, tuning_job);
  for (const store::Resource& row : *rows) {
    auto trial = store::TuningTrialOf(row);
    CHECK(trial.has_value());
    trials.push_back(std::move(*trial));
  }
  std::ranges::sort(trials, {}, &model::TuningTrial::number);
  return trials;
}

// Each trial has its training job and each training job its trial; all have ended, and the counters
// say so.
void World::CheckTuning(const std::string& name, std::vector<std::string>& out) {
  const model::TuningJob job = Tuning(name);
  if (records.Get(store::Kind::kTuningJob, name)->live) out.push_back(name + ": ended, but live");
  const std::vector<model::TuningTrial> trials = Trials(name);
  std::set<int> results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const model::TuningTrial& trial = trials[i];
    if (trial.number != static_cast<int>(i) + 1) out.push_back(name + ": numbers have gaps");
    if (!trial.ended()) out.push_back(trial.training_job + ": no result");
    if (!results.insert(trial.finished).second) out.push_back(name + ": two results in one place");
    const auto row = records.Get(store::Kind::kTrainingJob, trial.training_job);
    if (!row) {
      out.push_back(trial.training_job + ": no training job");
    } else if (row->live) {
      out.push_back(trial.training_job + ": runs after its search");
    }
  }
  const auto children = records.Children(store::Kind::kTrainingJob, name);
  if (children->size() != trials.size()) out.push_back(name + ": training jobs without a trial");
  if (job.Created() != static_cast<int>(trials.size())) out.push_back(name + ": counts wrongly");
  if (job.trials.in_progress != 0 || job.objectives.pending != 0)
    out.push_back(name + ": counts trials that run");
  if (job.objectives.succeeded + job.objectives.failed != job.Created())
    out.push_back(name + ": counts objectives wrongly");
  for (const store::Resource& child : *children) CheckEnded(child.name, out);
}

model::TrainingJob World::Job(const std::string& name) {
  const auto row = records.Get(store::Kind::kTrainingJob, name);
  CHECK(row.has_value());
  auto job = store::TrainingJobOf(*row);
  CHECK(job.has_value());
  return std::move(*job);
}

void World::Edit(const std::string& name, const std::function<void(model::TrainingJob&)>& edit) {
  const auto row = records.Get(store::Kind::kTrainingJob, name);
  CHECK(row.has_value());
  model::TrainingJob job = Job(name);
  edit(job);
  CHECK(records.Commit({{store::Change::Op::kUpdate, store::RowOf(job, row->revision), {}, {}}})
            .has_value());
}

Millis World::Turn() {
  constexpr int kTurnsMax = 1000;
  Millis rest{0};
  try {
    int turns = 0;
    do {
      rest = std::min(controller_->Turn(), tuning_->Turn());
      CHECK_MSG(++turns < kTurnsMax, "the controllers do not come to rest");
    } while (!controller_->idle() || !tuning_->idle());
  } catch (const Died&) {
    KillDaemon();
    StartDaemon();
    rest = Millis(0);
  }
  return rest;
}

bool World::RunUntil(const std::function<bool()>& condition) {
  constexpr Millis kStep{10};
  constexpr Seconds kPatience{3600};
  const WallTime end = clock.Wall() + kPatience;
  while (clock.Wall() < end) {
    Turn();
    if (condition()) return true;
    fleet.Tick();
    Turn();
    if (condition()) return true;
    clock.Advance(kStep);
  }
  return false;
}

bool World::RunUntilQuiet() {
  return RunUntil([this] {
    for (const std::string& name : submitted_) {
      if (!model::IsTerminal(Job(name).phase)) return false;
    }
    for (const std::string& name : tunings_) {
      if (!model::IsTerminal(Tuning(name).phase)) return false;
    }
    return fleet.List()->empty();
  });
}

void World::CheckTimes(const model::TrainingJob& job, std::vector<std::string>& out) {
  WallTime last = WallTime::min();
  for (const model::Transition& transition : job.transitions) {
    if (transition.start < last)
      out.push_back(job.name + ": a status began before the one before it");
    if (transition.end && *transition.end < transition.start)
      out.push_back(job.name + ": a status ended early");
    last = transition.start;
  }
  last = WallTime::min();
  for (const model::Attempt& attempt : job.attempts) {
    const WallTime begin = attempt.ready.value_or(attempt.launched);
    if (begin < last) out.push_back(job.name + ": a second was billed twice");
    if (!attempt.ended) out.push_back(job.name + ": an attempt did not end");
    last = attempt.ended.value_or(begin);
  }
  const auto training = model::TrainingTime(job, clock.Wall());
  const auto billable = model::BillableTime(job, clock.Wall());
  if (training && billable && *billable > *training)
    out.push_back(job.name + ": billed more than it trained");
}

// The times of the next job may be gone by now: what it took, it took no sooner than this ended.
void World::CheckPool(const model::TrainingJob& job, std::vector<std::string>& out) {
  if (!job.warm_pool) return;
  const model::WarmPool& pool = *job.warm_pool;
  if (pool.state == model::WarmPoolState::kAvailable)
    return out.push_back(job.name + ": its instances still wait");
  if (pool.state == model::WarmPoolState::kInUse)
    out.push_back(job.name + ": it has ended on a pool that is in use");
  if (!pool.retained_from) return;
  if (!pool.retained_until || *pool.retained_until < *pool.retained_from)
    return out.push_back(job.name + ": retention did not end");
  if (*pool.retained_from < job.attempts.back().ended)
    out.push_back(job.name + ": a second was trained and retained");
  if (!pool.updated && model::RetainedTime(pool, clock.Wall()) > job.KeepAlive())
    out.push_back(job.name + ": retained for longer than it asked for");
  if (pool.reused_by.empty()) return;
  const auto row = records.Get(store::Kind::kTrainingJob, pool.reused_by);
  if (!row) return;
  const model::TrainingJob next = Job(pool.reused_by);
  const bool took = next.warm_pool && next.warm_pool->taken_from == job.name;
  // A job that lost the instances may have taken those of another pool since.
  if (!took && next.attempts.size() < 2)
    return out.push_back(job.name + ": its pool went to a job that has another");
  // Attempts before the one that took them ran elsewhere.
  const bool later = std::any_of(next.attempts.begin(), next.attempts.end(),
                                 [&](const auto& a) { return a.launched >= *pool.retained_until; });
  if (!later && *pool.retained_until > *pool.retained_from)
    out.push_back(job.name + ": a second was retained and trained");
}

// Every instance of every attempt that has ended is billed once, for as long as it was used.
void World::CheckBilled(const model::TrainingJob& job, std::vector<std::string>& out) {
  std::map<std::string, Millis> uses;
  for (const model::Attempt& attempt : job.attempts) {
    for (int number = 1; number <= job.InstanceCount(); ++number) {
      const std::string id = model::InstanceId(job.uid, attempt.number, number);
      uses[id] = attempt.ready && attempt.ended ? *attempt.ended - *attempt.ready : Millis(0);
    }
  }
  const bool kept = job.warm_pool && job.warm_pool->retained_until;
  int retentions = kept ? job.InstanceCount() : 0;
  for (const model::LedgerEntry& line : records.Ledger(job.name)) {
    if (line.kind == model::LedgerKind::kWaiting) continue;
    if (line.kind == model::LedgerKind::kWarmPool) {
      --retentions;
      if (line.start != job.warm_pool->retained_from || line.end != job.warm_pool->retained_until)
        out.push_back(line.instance + ": its retention is billed wrongly");
      continue;
    }
    const auto use = uses.find(line.instance);
    if (use == uses.end()) {
      out.push_back(line.instance + ": billed twice, or never used");
      continue;
    }
    if (use->second != line.end - line.start) out.push_back(line.instance + ": billed wrongly");
    uses.erase(use);
  }
  for (const auto& [id, time] : uses) out.push_back(id + ": not billed");
  if (retentions != 0) out.push_back(job.name + ": its retention is not billed once");
}

void World::CheckEnded(const std::string& name, std::vector<std::string>& out) {
  const model::TrainingJob job = Job(name);
  CheckTimes(job, out);
  CheckPool(job, out);
  CheckBilled(job, out);
  if (records.Get(store::Kind::kTrainingJob, name)->live)
    out.push_back(name + ": finished, but live");
  if (!job.transitions.back().end) out.push_back(name + ": the last status did not end");
}

void World::Forget(const std::string& name) {
  records.Erase(store::Kind::kTrainingJob, name);
  metrics.points.erase(name);
  fleet.Forget(name);
  std::erase(submitted_, name);
}

std::vector<std::string> World::Violations() {
  std::vector<std::string> out = fleet.violations();
  for (const std::string& name : submitted_) CheckEnded(name, out);
  for (const std::string& name : tunings_) CheckTuning(name, out);
  const auto leases = records.Live(store::Kind::kInstance);
  for (const store::Resource& row : *leases) out.push_back(row.name + ": a lease without a job");
  for (const std::string& id : fleet.Running()) out.push_back(id + ": an agent that nobody wants");
  return out;
}

}  // namespace sabia::control::testing
