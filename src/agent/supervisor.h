// The life of one instance, step by step: prepare, run, stop, upload, report.
//
// The main thread does nothing that can block for long: hooks and uploads run on a worker while it
// keeps watching the orders, the clock and the program. That the program starts is on disk before
// it does. A phase that is over in a moment is not told by itself: the next report has its time.
//
// Threading: all members on the main thread.
#pragma once

#include <optional>
#include <thread>

#include "agent/agent.h"
#include "agent/artifacts.h"
#include "agent/cgroup.h"
#include "agent/link.h"
#include "agent/log_pump.h"
#include "agent/program.h"
#include "agent/spot_notice.h"

namespace sabia::agent {

class Supervisor {
 public:
  Supervisor(const AgentOptions& options, const AgentParts& parts, Link link,
             std::string no_mounts);
  ~Supervisor();

  // To the final report. Whether the agent stays: nothing of the instance is left in this process.
  bool Run();
  Link TakeLink() && { return std::move(link_); }

 private:
  struct Stop {
    model::StopReason reason = model::StopReason::kNone;
    std::optional<MonoTime> kill_at;  // of the program
    std::optional<MonoTime> end_at;   // of everything: the machine is taken away
    bool signalled = false;
    bool killed = false;
  };

  // Steps, in order.
  Status Prepare();
  Status StartProgram();
  void Supervise();
  void RecordEnd(const ProgramEnd& end);
  void AfterProgram();
  void StopStreams();
  bool InputFailed() const;  // and that is why the program ended
  void FlushCheckpoints();
  void AwaitUploadOrder();
  void Upload(const ArtifactOptions& what);
  // A note of the job, and a line of its log. After the program.
  void Tell(std::string note);
  void CleanUp();

  // Waits for news, at most until the next deadline; applies orders and starts stops.
  void Poll(const std::vector<int>& more_fds);
  int PollTimeoutMs() const;
  void LookAtOrders();
  void TakeOrders(const model::Orders& orders);
  void BeginStop(model::StopReason reason, std::optional<WallTime> kill_at);
  void DriveStop();
  void HearNotice();
  // Runs the work while polling; kTimeout when end_at came first (the worker is abandoned then).
  Status OnWorker(const std::function<Status()>& work);

  void Enter(model::AgentPhase phase);
  void FillReport();
  void Publish();
  void PublishIfNews();
  // Looks at the channels that bring data while the program runs: their failures, their metrics.
  void WatchStreams();
  bool HasStreams() const { return instance_.pipes || instance_.fast; }
  std::vector<model::ChannelReport> StreamReports() const;
  void WriteDataMetrics();
  void KillProgram();
  void Blame(const Error& error, bool users_fault);
  bool stopping() const { return stop_.reason != model::StopReason::kNone; }
  bool SkipsUploads() const;
  bool OutOfTime() const;  // the machine is taken away now

  const AgentOptions options_;
  const AgentParts parts_;
  Link link_;
  Instance instance_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  model::Report report_;
  model::Orders orders_;
  Stop stop_;
  std::optional<MonoTime> run_deadline_;  // while the program is to start or runs
  std::optional<MonoTime> tell_at_;       // when the daemon is to hear of the phase that lasts
  bool running_ = false;                  // the program
  bool ended_by_itself_ = false;          // and not by a stop of ours
  Cgroup cgroup_;
  std::unique_ptr<LogPump> pump_;
  Program program_;
  std::unique_ptr<SpotNotice> notice_;  // of machines that may be taken away
  env::UniqueFd signals_;
  std::uint64_t metrics_published_ = 0;
  channels::CheckpointStats stats_published_;
  std::optional<Error> input_failure_;
  std::vector<model::ChannelReport> data_metered_;  // StreamReports, as the last metrics saw them
  MonoTime data_metered_at_;
  MonoTime data_published_at_;
  bool worker_busy_ = false;  // the instance is the worker's
  std::vector<std::string> hook_notes_;
  std::vector<std::string> machine_notes_;
  bool stream_hangs_ = false;  // requests of streamed channels still run
  bool machine_ends_ = false;  // we were told by SIGTERM
  bool abandoned_ = false;     // a worker hangs in a call that nobody waits for any more
};

}  // namespace sabia::agent
