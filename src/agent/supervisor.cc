#include "agent/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/contract_text.h"
#include "agent/data_account.h"
#include "agent/script_mode.h"
#include "agent/text.h"
#include "base/check.h"
#include "base/log.h"
#include "channels/beneath.h"

namespace sabia::agent {
namespace {

using model::AgentPhase;
using model::StopReason;

constexpr int kTickMs = 1'000;      // how often orders are looked at without a poke
constexpr int kSignalRetryMs = 20;  // while the sandbox is still being made
constexpr int kProcessesMax = 8'192;
constexpr std::size_t kFailureCharacters = 1'024;
constexpr std::size_t kNoteBytesMax = 4'096;
// For a worker that hangs in a network call when the instance is dismissed.
constexpr Millis kDismissPatience{1'000};
// How much of a spot notice is kept for the checkpoints after the program: an eighth, at most this.
constexpr Millis kFlushReserveMax{10'000};
// How long a phase lasts before the daemon hears of it. A trivial job is over by then, and costs
// the daemon one look instead of four.
constexpr Millis kTellAfter{100};
// How old the report of Pipe channels and of files read on demand may be.
constexpr Millis kDataPublishInterval{5'000};

std::chrono::nanoseconds Nanos(Millis ms) { return ms; }

}  // namespace

Supervisor::Supervisor(const AgentOptions& options, const AgentParts& parts, Link link,
                       std::string no_mounts)
    : options_(options),
      parts_(parts),
      link_(std::move(link)),
      instance_{.spec = link_.spec(),
                .layout = Layout(options.directory),
                .clock = parts.clock,
                .connect = parts.connect,
                .paths = options.paths,
                .no_mounts = std::move(no_mounts)},
      hooks_(AllHooks(link_.spec())),
      cgroup_("sabia-" + link_.spec().id) {
  report_.pid = ::getpid();
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.Reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Supervisor::~Supervisor() = default;

bool Supervisor::Run() {
  Status ready = Prepare();
  if (ready && !stopping()) ready = StartProgram();
  if (ready && program_.started()) {
    Supervise();
    AfterProgram();
  } else if (!ready && !stopping()) {
    // The hook that failed has blamed somebody already.
    CHECK(!report_.error.empty());
  }
  CleanUp();
  report_.stays = instance_.spec.stays && !machine_ends_ && !abandoned_ && !stream_hangs_;
  Enter(AgentPhase::kDone);
  // A worker that hangs in a network call cannot be joined; nothing of the instance depends on it
  // any more.
  if (abandoned_ || stream_hangs_) ::_exit(0);
  return report_.stays;
}

Status Supervisor::Prepare() {
  Enter(AgentPhase::kPreparing);
  if (!instance_.spec.imds.empty()) {
    notice_ = std::make_unique<SpotNotice>(instance_.spec.imds);
    notice_->Start();
  }
  auto writer = parts_.open_log(instance_.spec.log_file);
  if (!writer) {
    Blame(writer.error(), false);
    return tl::make_unexpected(std::move(writer).error());
  }
  pump_ = std::make_unique<LogPump>(parts_.clock, std::move(*writer),
                                    LogPumpOptions{.metrics = instance_.spec.metrics,
                                                   .metrics_log = instance_.layout.metrics_log()});
  if (Status ok = pump_->Prepare(); !ok) {
    Blame(ok.error(), ok.error().code == ErrorCode::kInvalidArgument);
    return ok;
  }
  for (const auto& hook : hooks_) {
    LookAtOrders();
    if (stopping()) return {};
    if (hook->phase() > report_.phase) Enter(hook->phase());  // a phase never comes back
    Status prepared = hook->quick(instance_.spec)
                          ? hook->Prepare(instance_)
                          : OnWorker([this, one = hook.get()] { return one->Prepare(instance_); });
    report_.restored_files = instance_.restored_files;
    report_.restored_bytes = instance_.restored_bytes;
    if (prepared) continue;
    if (!stopping()) Blame(prepared.error(), hook->IsUsersFault(prepared.error().code));
    return prepared;
  }
  return {};
}

Status Supervisor::StartProgram() {
  const auto fail = [this](Error error, bool users_fault) -> Status {
    Blame(error, users_fault);
    return tl::make_unexpected(std::move(error));
  };
  auto sandbox = SandboxOptions(instance_.spec, instance_.layout, options_.paths, instance_.views);
  if (!sandbox) return fail(sandbox.error(), sandbox.error().code == ErrorCode::kInvalidArgument);

  env::PosixFiles files;
  const auto mounts = files.Read("/proc/self/mountinfo", 16 << 20).value_or(std::string());
  const auto groups = files.Read("/proc/self/cgroup", 1 << 20).value_or(std::string());
  const double machine = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double cpus = instance_.spec.vcpus < machine ? instance_.spec.vcpus : 0;
  cgroup_.Create(FindHierarchies(mounts, groups),
                 {instance_.spec.memory_bytes, cpus, kProcessesMax});

  Enter(AgentPhase::kTraining);
  const Status started = program_.Start({.bwrap = options_.paths.bwrap,
                                         .sandbox = std::move(*sandbox),
                                         .command = instance_.command,
                                         .v1_tasks = cgroup_.v1_tasks(),
                                         .v2_group = cgroup_.v2_group()});
  if (!started) return fail(started.error(), false);
  running_ = true;
  pump_->Start(program_.TakeOutput());
  for (StreamSet* set : instance_.Streams()) set->Start();
  data_metered_ = StreamReports();
  data_metered_at_ = data_published_at_ = parts_.clock.Mono();
  if (instance_.checkpoints) {
    if (const Status following = instance_.checkpoints->Start(); !following)
      return fail(following.error(), false);
  }
  return {};
}

void Supervisor::Supervise() {
  while (true) {
    if (const auto end = program_.Reap()) {
      if (instance_.checkpoints) instance_.checkpoints->Halt();
      RecordEnd(*end);
      return WatchStreams();  // data that failed may be why it ended
    }
    WatchStreams();
    DriveStop();
    PublishIfNews();
    std::vector<int> fds = program_.WaitFds();
    if (!input_failure_) {
      for (const StreamSet* set : instance_.Streams()) fds.push_back(set->news());
    }
    Poll(fds);
  }
}

void Supervisor::RecordEnd(const ProgramEnd& end) {
  running_ = false;
  run_deadline_.reset();
  ended_by_itself_ = !stop_.signalled && !stop_.killed;
  pump_->Finish();
  if (end.sandbox_failed) {
    const auto lines = pump_->LastLines();
    const StartProblem why = ReadStartProblem(!end.failure.empty() ? end.failure
                                              : lines.empty()      ? "no message"
                                                                   : lines.back());
    Blame({ErrorCode::kInternal, "failed to start the program: " + why.text}, why.users);
    return;
  }
  report_.exit_code = end.exit_code;
  report_.signal = end.signal;
  report_.out_of_memory = end.exit_code != 0 && cgroup_.OutOfMemory();
  report_.ended_in_grace = stop_.signalled && !stop_.killed;
  auto root = channels::OpenDirectory(instance_.layout.root());
  if (!root) return;
  if (auto text = channels::ReadBeneath(root->get(), "output/failure", 4 * kFailureCharacters)) {
    report_.failure_file = FirstCharacters(*text, kFailureCharacters);
    return;
  }
  if (instance_.spec.image == model::ImageKind::kPython && end.exit_code != 0 && !stopping()) {
    const std::string text =
        ScriptFailureText(end.exit_code, pump_->LastError(), instance_.user_command);
    report_.failure_file = FirstCharacters(text, kFailureCharacters);
  }
}

bool Supervisor::SkipsUploads() const {
  if (orders_.dismiss || stop_.reason == StopReason::kPeerLost) return true;
  // A program that had ended when the notice came is worth its artifacts, as far as time allows.
  return stop_.reason == StopReason::kInterrupted && !ended_by_itself_;
}

bool Supervisor::OutOfTime() const { return stop_.end_at && parts_.clock.Mono() >= *stop_.end_at; }

// A program that ended well by itself had all the data it wanted.
bool Supervisor::InputFailed() const {
  return input_failure_ && stop_.reason == StopReason::kInputFailed &&
         !(ended_by_itself_ && report_.exit_code == 0);
}

std::vector<model::ChannelReport> Supervisor::StreamReports() const {
  std::vector<model::ChannelReport> out;
  for (const StreamSet* set : instance_.Streams()) {
    for (model::ChannelReport& channel : set->Reports()) out.push_back(std::move(channel));
  }
  return out;
}

void Supervisor::WatchStreams() {
  if (!HasStreams() || worker_busy_) return;
  const MonoTime now = parts_.clock.Mono();
  if (now - data_metered_at_ >= kDataMetricsInterval) WriteDataMetrics();
  if (now - data_published_at_ >= kDataPublishInterval) Publish();
  if (input_failure_) return;
  for (const StreamSet* set : instance_.Streams()) {
    if (!input_failure_) input_failure_ = set->failure();
  }
  // The program has its grace: what it has learnt so far may be worth a checkpoint.
  if (input_failure_) BeginStop(StopReason::kInputFailed, std::nullopt);
}

void Supervisor::WriteDataMetrics() {
  const MonoTime now = parts_.clock.Mono();
  const DataInterval interval{instance_.spec.job_name + "/" + instance_.spec.host,
                              parts_.clock.Wall(),
                              std::chrono::duration_cast<Millis>(now - data_metered_at_)};
  std::vector<model::ChannelReport> reports = StreamReports();
  std::string lines;
  for (std::size_t i = 0; i < reports.size(); ++i)
    lines += DataMetricLines(interval, data_metered_[i], reports[i]);
  data_metered_ = std::move(reports);
  data_metered_at_ = now;
  // Whole lines at the end of the file, where the log's metrics go as well.
  const auto log =
      env::OpenFile(instance_.layout.metrics_log(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (log) (void)env::WriteAll(log->get(), lines);
}

void Supervisor::StopStreams() {
  if (!HasStreams() || abandoned_) return;
  (void)OnWorker([this]() -> Status {
    for (StreamSet* set : instance_.Streams()) {
      if (!set->Stop()) stream_hangs_ = true;
    }
    return {};
  });
  if (abandoned_) return;
  WriteDataMetrics();
  const auto began = report_.began.find(AgentPhase::kTraining);
  const Millis trained =
      began == report_.began.end() ? Millis(0) : parts_.clock.Wall() - began->second;
  for (const StreamSet* set : instance_.Streams()) {
    for (std::string& note : set->Notes(trained)) instance_.notes.push_back(std::move(note));
  }
  for (model::ChannelReport& channel : StreamReports())
    instance_.channels.push_back(std::move(channel));
  instance_.pipes.reset();
  // What hangs (FIFOs do not) keeps its memory until the process ends.
  if (stream_hangs_) (void)instance_.fast.release();
  instance_.fast.reset();
}

void Supervisor::AfterProgram() {
  StopStreams();
  if (!report_.error.empty() || orders_.dismiss) return;
  if (InputFailed()) {
    FlushCheckpoints();
    return Blame(*input_failure_, IsUsersDataFault(input_failure_->code));
  }
  // The end is told at once; the checkpoints follow meanwhile.
  const bool waits = !instance_.spec.upload_on_exit && !SkipsUploads();
  if (waits) {
    Enter(AgentPhase::kExited);
  } else if (SkipsUploads()) {
    Publish();
  } else {
    Enter(AgentPhase::kUploading);
  }
  FlushCheckpoints();
  if (waits) return AwaitUploadOrder();
  const bool failed = report_.exit_code != 0 && ended_by_itself_;
  if (!SkipsUploads()) Upload({.model = !failed, .output = true, .merge_from = {}});
}

void Supervisor::FlushCheckpoints() {
  if (!instance_.checkpoints) return;
  using Trust = channels::CheckpointSync::Trust;
  const Trust trust = report_.signal ? Trust::kOnlyStable : Trust::kAll;
  const Status flushed = OnWorker([this, trust] {
    return instance_.checkpoints->Flush(trust, [this] { return instance_.cancelled.load(); });
  });
  if (abandoned_) return;
  if (!flushed) Tell("checkpoints are not all in S3: " + flushed.error().message);
  const channels::CheckpointStats stats = instance_.checkpoints->stats();
  for (const std::string& path : stats.skipped) {
    Tell(fmt::format("checkpoint '{}' was being written when the program was killed: not uploaded",
                     path));
  }
  if (!stats.no_files.empty()) {
    Tell(fmt::format("not uploaded from {}, for S3 keeps only files: {}",
                     instance_.spec.checkpoint_local_path, FewOf(stats.no_files)));
  }
}

void Supervisor::Tell(std::string note) {
  note = SafeUtf8(ContractText(instance_.spec, instance_.layout, std::move(note)), kNoteBytesMax);
  pump_->Say("[sabia] " + note);
  instance_.notes.push_back(std::move(note));
}

void Supervisor::AwaitUploadOrder() {
  while (!orders_.upload && !SkipsUploads() && !OutOfTime()) Poll({});
  if (SkipsUploads() || OutOfTime()) return;
  Enter(AgentPhase::kUploading);
  Upload({.model = true, .output = true, .merge_from = orders_.merge_from});
}

void Supervisor::Upload(const ArtifactOptions& what) {
  const auto told = std::make_shared<std::vector<std::string>>();  // a worker may be abandoned
  const Status sent =
      OnWorker([this, what, told] { return UploadArtifacts(instance_, what, *told); });
  if (!abandoned_) {
    for (std::string& note : *told) Tell(std::move(note));
  }
  if (sent) {
    report_.model_uploaded = what.model;
    return;
  }
  const ErrorCode code = sent.error().code;
  if (orders_.dismiss || abandoned_) return;
  Blame(sent.error(), code == ErrorCode::kNotFound || code == ErrorCode::kDenied ||
                          code == ErrorCode::kConflict || code == ErrorCode::kInvalidArgument);
}

void Supervisor::CleanUp() {
  cgroup_.Remove();
  if (abandoned_) return;  // its files are in use
  for (auto hook = hooks_.rbegin(); hook != hooks_.rend(); ++hook) (*hook)->Cleanup(instance_);
}

int Supervisor::PollTimeoutMs() const {
  const MonoTime now = parts_.clock.Mono();
  std::int64_t wait = kTickMs;
  const auto until = [&](const std::optional<MonoTime>& deadline) {
    if (!deadline) return;
    const auto left = std::chrono::ceil<Millis>(*deadline - now).count();
    wait = std::clamp<std::int64_t>(left, 0, wait);
  };
  if (!stopping()) until(run_deadline_);
  until(tell_at_);
  if (running_ && stopping() && !stop_.signalled) wait = kSignalRetryMs;
  if (running_ && !stop_.killed) until(stop_.kill_at);
  if (!abandoned_) until(stop_.end_at);
  return static_cast<int>(wait);
}

void Supervisor::Poll(const std::vector<int>& more_fds) {
  const int output = pump_ ? pump_->unheard() : -1;  // poll passes over -1
  const int notice = notice_ ? notice_->news() : -1;
  std::vector<pollfd> items = {{link_.pokes(), POLLIN, 0},
                               {signals_.get(), POLLIN, 0},
                               {output, POLLIN, 0},
                               {notice, POLLIN, 0}};
  for (const int fd : more_fds) items.push_back({fd, POLLIN, 0});
  ::poll(items.data(), items.size(), PollTimeoutMs());
  if (items[2].revents != 0) pump_->Hear(items[2].revents);
  if ((items[0].revents & POLLIN) != 0) link_.DrainPokes();
  if ((items[1].revents & POLLIN) != 0) {
    signalfd_siginfo ignored{};
    (void)!::read(signals_.get(), &ignored, sizeof ignored);
    machine_ends_ = true;
    BeginStop(StopReason::kInterrupted, std::nullopt);  // the machine shuts down
  }
  if (items[3].revents != 0) HearNotice();
  LookAtOrders();
  if (run_deadline_ && !stopping() && parts_.clock.Mono() >= *run_deadline_) {
    BeginStop(StopReason::kMaxRuntime, std::nullopt);
  }
  if (tell_at_ && parts_.clock.Mono() >= *tell_at_) Publish();
}

// The machine is spot capacity itself. The program hears of it first, then the daemon.
void Supervisor::HearNotice() {
  const SpotNotice::Seen seen = notice_->Take();
  // One whose time is over is of an earlier life of the machine.
  const bool ahead = seen.ends_at && *seen.ends_at > parts_.clock.Wall();
  if (ahead && !report_.machine_ends_at) {
    report_.machine_ends_at = seen.ends_at;
    BeginStop(StopReason::kInterrupted, seen.ends_at);
    if (running_) DriveStop();
    Publish();
  }
  machine_notes_.clear();
  if (report_.machine_ends_at) {
    machine_notes_.push_back(
        fmt::format("the machine itself is spot capacity: its metadata said "
                    "'{}' at {}",
                    seen.action, FormatIso8601Seconds(*seen.ends_at)));
  }
  if (seen.rebalance_noticed) {
    machine_notes_.push_back(
        fmt::format("the metadata of the machine recommended to rebalance at {}",
                    FormatIso8601Seconds(*seen.rebalance_noticed)));
  }
  if (!seen.problem.empty()) {
    machine_notes_.push_back("spot notices of the machine cannot be read (--imds): " +
                             seen.problem);
  }
}

void Supervisor::LookAtOrders() {
  if (const auto orders = link_.NewOrders()) TakeOrders(*orders);
}

void Supervisor::TakeOrders(const model::Orders& orders) {
  orders_ = orders;
  if (orders.stop != StopReason::kNone) BeginStop(orders.stop, orders.kill_at);
  if (orders.dismiss) {
    instance_.cancelled = true;
    if (!stop_.end_at) stop_.end_at = parts_.clock.Mono() + Nanos(kDismissPatience);
    KillProgram();
  }
}

void Supervisor::KillProgram() {
  if (!running_) return;
  if (instance_.checkpoints) instance_.checkpoints->Freeze();
  // A process that waits for a file can be killed, but not by every kernel at once.
  for (StreamSet* set : instance_.Streams()) set->Cancel();
  program_.Kill();
}

void Supervisor::BeginStop(StopReason reason, std::optional<WallTime> kill_at) {
  const MonoTime now = parts_.clock.Mono();
  MonoTime kill = now + Nanos(instance_.spec.stop_grace);
  if (kill_at) kill = now + Nanos(*kill_at - parts_.clock.Wall());
  if (reason == StopReason::kInterrupted && kill_at) {
    if (!stop_.end_at || kill < *stop_.end_at) stop_.end_at = kill;
    if (!instance_.spec.checkpoint_s3_uri.empty()) {
      kill -= std::min(Nanos(kFlushReserveMax),
                       std::max<std::chrono::nanoseconds>((kill - now) / 8, Nanos(Millis(0))));
    }
  }
  // A later order may only shorten the time.
  if (!stop_.kill_at || kill < *stop_.kill_at) stop_.kill_at = kill;
  // Asked to stop within a spot notice: the artifacts are wanted, too, as far as time allows.
  const bool wants_more = stop_.reason == StopReason::kInterrupted &&
                          (reason == StopReason::kRequested || reason == StopReason::kMaxWait);
  if (wants_more) stop_.reason = report_.stopped_for = reason;
  if (stopping()) return;
  stop_.reason = reason;
  report_.stopped_for = reason;
  if (report_.phase == AgentPhase::kPreparing || report_.phase == AgentPhase::kDownloading) {
    instance_.cancelled = true;
  }
}

void Supervisor::DriveStop() {
  if (!stopping()) return;
  if (!stop_.signalled && instance_.checkpoints) instance_.checkpoints->Look();
  if (!stop_.signalled && program_.Signal(SIGTERM, instance_.spec.signal_all_processes)) {
    stop_.signalled = true;
    Enter(AgentPhase::kStopping);
  }
  if (!stop_.killed && stop_.kill_at && parts_.clock.Mono() >= *stop_.kill_at) {
    stop_.killed = true;
    KillProgram();
  }
}

Status Supervisor::OnWorker(const std::function<Status()>& work) {
  // Shared, for an abandoned worker outlives this call.
  struct Shared {
    env::UniqueFd done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::atomic<bool> finished{false};
    Status result;
  };
  const auto shared = std::make_shared<Shared>();
  worker_busy_ = true;
  std::thread worker([shared, work] {
    shared->result = work();
    shared->finished = true;
    const std::uint64_t one = 1;
    (void)!::write(shared->done.get(), &one, sizeof one);
  });
  while (!shared->finished) {
    Poll({shared->done.get()});
    if (!shared->finished && OutOfTime()) {
      instance_.cancelled = true;
      abandoned_ = true;
      worker.detach();
      return Fail(ErrorCode::kTimeout, "the instance was taken away");
    }
    PublishIfNews();
  }
  worker.join();
  worker_busy_ = false;
  return std::move(shared->result);
}

void Supervisor::Enter(AgentPhase phase) {
  const bool billed = phase == AgentPhase::kDownloading || phase == AgentPhase::kTraining;
  if (billed && !run_deadline_ && instance_.spec.run_limit.count() > 0) {
    run_deadline_ = parts_.clock.Mono() + Nanos(instance_.spec.run_limit);
  }
  report_.phase = phase;
  report_.began[phase] = parts_.clock.Wall();
  // Whoever waits for one of the others waits for what it says.
  const bool brief = phase == AgentPhase::kPreparing || phase == AgentPhase::kUploading || billed;
  if (!brief && phase != AgentPhase::kDone) return Publish();
  FillReport();
  Status written;
  if (phase == AgentPhase::kDone) {
    written = link_.PublishLast(report_);
  } else {
    tell_at_ = parts_.clock.Mono() + Nanos(kTellAfter);
    // Should we die, then what was billed, and that the program started, are known.
    if (billed) written = link_.Write(report_);
  }
  if (!written) LogError("agent of '{}': {}", instance_.spec.id, written.error().message);
}

void Supervisor::Publish() {
  FillReport();
  tell_at_.reset();
  if (const Status written = link_.Publish(report_); !written) {
    LogError("agent of '{}': {}", instance_.spec.id, written.error().message);
  }
}

void Supervisor::FillReport() {
  if (!worker_busy_) hook_notes_ = instance_.notes;
  report_.notes = hook_notes_;
  for (std::string& note : report_.notes)
    note = ContractText(instance_.spec, instance_.layout, std::move(note));
  if (!worker_busy_) report_.channels = instance_.channels;
  if (!worker_busy_ && HasStreams()) {
    for (model::ChannelReport& channel : StreamReports())
      report_.channels.push_back(std::move(channel));
    data_published_at_ = parts_.clock.Mono();
  }
  for (const std::string& note : cgroup_.notes()) report_.notes.push_back(note);
  for (const std::string& note : machine_notes_) report_.notes.push_back(note);
  if (pump_) {
    metrics_published_ = pump_->metric_count();
    report_.last_lines = pump_->LastLines();
    report_.metrics = pump_->Metrics();
    for (const std::string& note : pump_->notes()) report_.notes.push_back(note);
  }
  if (program_.started() && instance_.checkpoints) {
    stats_published_ = instance_.checkpoints->stats();
    report_.checkpoint_synced_at = stats_published_.synced_at;
    report_.checkpoint_written_at = stats_published_.written_at;
    report_.checkpoint_pending_bytes = static_cast<std::int64_t>(stats_published_.pending_bytes);
    report_.checkpoint_files = static_cast<std::int64_t>(stats_published_.files);
  }
}

void Supervisor::PublishIfNews() {
  if (pump_ && pump_->metric_count() != metrics_published_) return Publish();
  if (!program_.started() || !instance_.checkpoints || abandoned_) return;
  const channels::CheckpointStats now = instance_.checkpoints->stats();
  const bool lag_began_or_ended = (now.pending_bytes == 0) != (stats_published_.pending_bytes == 0);
  // A directory may become whole without a further upload.
  const bool went_on =
      now.synced_at != stats_published_.synced_at || now.written_at != stats_published_.written_at;
  if (went_on || lag_began_or_ended) Publish();
}

void Supervisor::Blame(const Error& error, bool users_fault) {
  report_.error = SafeUtf8(
      ContractText(instance_.spec, instance_.layout, std::string(error.message)), kNoteBytesMax);
  report_.error_is_users = users_fault;
}

}  // namespace sabia::agent
