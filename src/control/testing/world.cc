#include "control/testing/world.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/log.h"
#include "store/training_job_row.h"

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
  records.OnCommit([this](store::Kind kind, const std::string& name) {
    controller_->RecordChanged(kind, name);
  });
  const auto poke = [this](const std::string& id) {
    if (!loses_poke || !loses_poke()) controller_->Poke(id);
  };
  fleet.OnPoke(poke);
  fleet.OnExit(poke);
  CHECK(controller_->Recover().has_value());
}

void World::KillDaemon() {
  if (!controller_) return;
  records.OnCommit(nullptr);
  fleet.DaemonDied();
  // No Stop(): the loop is not running, and looks that died never report back.
  controller_->Abandon();
  controller_.reset();
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
  EnterStatus(job, "Starting", "Starting the training job", clock.Wall());
  submitted_.push_back(name);
  // As the API does it: with the record itself, while there is a controller.
  const bool hand_over = controller_ != nullptr;
  CHECK(records.Commit({{store::Change::Op::kInsert, store::RowOf(job, 0), {}, {}, hand_over}})
            .has_value());
  if (hand_over) controller_->Accepted(std::make_unique<model::TrainingJob>(std::move(job)));
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
      rest = controller_->Turn();
      CHECK_MSG(++turns < kTurnsMax, "the controller does not come to rest");
    } while (!controller_->idle());
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

// Every instance of every attempt that has ended is billed once, for as long as it was used.
void World::CheckBilled(const model::TrainingJob& job, std::vector<std::string>& out) {
  std::map<std::string, Millis> uses;
  for (const model::Attempt& attempt : job.attempts) {
    for (int number = 1; number <= job.InstanceCount(); ++number) {
      const std::string id = model::InstanceId(job.uid, attempt.number, number);
      uses[id] = attempt.ready && attempt.ended ? *attempt.ended - *attempt.ready : Millis(0);
    }
  }
  for (const model::LedgerEntry& line : records.Ledger(job.name)) {
    if (line.kind == model::LedgerKind::kWaiting) continue;
    const auto use = uses.find(line.instance);
    if (use == uses.end()) {
      out.push_back(line.instance + ": billed twice, or never used");
      continue;
    }
    if (use->second != line.end - line.start) out.push_back(line.instance + ": billed wrongly");
    uses.erase(use);
  }
  for (const auto& [id, time] : uses) out.push_back(id + ": not billed");
}

void World::CheckEnded(const std::string& name, std::vector<std::string>& out) {
  const model::TrainingJob job = Job(name);
  CheckTimes(job, out);
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
  const auto leases = records.Live(store::Kind::kInstance);
  for (const store::Resource& row : *leases) out.push_back(row.name + ": a lease without a job");
  for (const std::string& id : fleet.Running()) out.push_back(id + ": an agent that nobody wants");
  return out;
}

}  // namespace sabia::control::testing
