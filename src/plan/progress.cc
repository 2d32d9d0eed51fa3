#include "plan/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/failure_reason.h"

namespace sabia::plan {
namespace {

using model::AgentPhase;
using model::TrainingJob;
using model::TrainingPhase;

std::optional<WallTime> Began(const InstanceView& host, AgentPhase phase) {
  if (!host.report) return std::nullopt;
  const auto found = host.report->began.find(phase);
  if (found == host.report->began.end()) return std::nullopt;
  return found->second;
}

// When the host left preparation behind with something to show for it.
std::optional<WallTime> Ready(const InstanceView& host) {
  const auto downloading = Began(host, AgentPhase::kDownloading);
  return downloading ? downloading : Began(host, AgentPhase::kTraining);
}

// The latest of all hosts' times; nothing while one of them has none.
template <typename TimeOf>
std::optional<WallTime> LatestOfAll(const std::vector<InstanceView>& hosts, TimeOf time_of) {
  std::optional<WallTime> latest;
  for (const InstanceView& host : hosts) {
    const std::optional<WallTime> time = time_of(host);
    if (!time) return std::nullopt;
    latest = std::max(latest.value_or(*time), *time);
  }
  return latest;
}

std::optional<WallTime> Earliest(const std::vector<InstanceView>& hosts, AgentPhase phase) {
  std::optional<WallTime> earliest;
  for (const InstanceView& host : hosts) {
    const std::optional<WallTime> time = Began(host, phase);
    if (time) earliest = std::min(earliest.value_or(*time), *time);
  }
  return earliest;
}

std::string RestoredText(const std::vector<InstanceView>& hosts) {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  for (const InstanceView& host : hosts) {
    if (!host.report) continue;
    files += host.report->restored_files;
    bytes += host.report->restored_bytes;
  }
  if (files == 0) return "";
  return fmt::format(
      "Preparing the instances for training: restored {} checkpoint file{} ({} bytes)", files,
      files == 1 ? "" : "s", bytes);
}

void TellRestored(TrainingJob& job, const std::vector<InstanceView>& hosts) {
  const std::string restored = RestoredText(hosts);
  if (restored.empty() || job.transitions.empty()) return;
  EnterStatus(job, job.transitions.back().status, restored, job.transitions.back().start);
}

void BecomeReady(TrainingJob& job, WallTime ready) {
  if (job.attempts.empty()) return;
  model::Attempt& attempt = job.attempts.back();
  ready = std::max(ready, attempt.launched);
  if (!attempt.ready) attempt.ready = ready;
  if (!job.training_start) job.training_start = *attempt.ready;
}

}  // namespace

bool Trained(const InstanceView& host) { return Began(host, AgentPhase::kTraining).has_value(); }

bool Exited(const InstanceView& host) {
  if (!host.report) return false;
  return Done(host) || host.report->exit_code || host.report->signal ||
         Began(host, AgentPhase::kExited) || Began(host, AgentPhase::kUploading);
}

bool Done(const InstanceView& host) {
  return host.report && host.report->phase == AgentPhase::kDone;
}

bool Lost(const InstanceView& host, const TrainingRules& rules) {
  if (host.alive || Done(host)) return false;
  if (host.orders.dismiss && Exited(host)) return false;  // it did its part, and went
  return host.report || host.launches >= rules.launches_max;
}

bool Ended(const InstanceView& host, const TrainingRules& rules) {
  if (Done(host)) return true;
  if (host.alive) return false;
  // Without a report the agent never got as far as its program. A late one finds its directory
  // gone, and ends.
  if (host.orders.dismiss && Exited(host)) return true;
  const bool ordered_to_stop = host.orders.stop != model::StopReason::kNone;
  const bool never_to_start = !host.report && (ordered_to_stop || host.fault.has_value());
  return never_to_start || Lost(host, rules);
}

bool Succeeded(const InstanceView& host) {
  // Told to stop when it had ended already: the agent begins to stop only what runs.
  const auto by_itself = [&] {
    return host.report->stopped_for == model::StopReason::kNone ||
           !Began(host, AgentPhase::kStopping);
  };
  return Exited(host) && host.report->exit_code == 0 && host.report->error.empty() && by_itself();
}

bool ProgramFailed(const model::Report& report) {
  if (report.stopped_for != model::StopReason::kNone)
    return false;  // whatever code it ends with in the grace
  return report.signal.has_value() || report.exit_code.value_or(0) != 0;
}

bool Failed(const InstanceView& host) {
  if (host.fault) return true;
  if (!host.report || !Exited(host)) return false;
  return !host.report->error.empty() || ProgramFailed(*host.report);
}

std::optional<WallTime> LastSaved(const std::vector<InstanceView>& hosts) {
  std::optional<WallTime> last;
  for (const InstanceView& host : hosts) {
    if (!host.report) continue;
    const auto saved = host.report->checkpoint_written_at;
    if (saved) last = std::min(last.value_or(*saved), *saved);
  }
  return last;
}

WallTime EndOf(const InstanceView& host, WallTime otherwise) {
  return Began(host, AgentPhase::kDone).value_or(host.last_seen.value_or(otherwise));
}

void Advance(Record& record, TrainingPhase to) {
  if (model::IsLegal(model::kTrainingEdges, record.job.phase, to)) {
    record.job.phase = to;
  } else if (record.illegal.empty()) {
    record.illegal = fmt::format("{} → {}", Name(record.job.phase), Name(to));
  }
}

void CatchUp(Record& record, const std::vector<InstanceView>& hosts) {
  TrainingJob& job = record.job;
  if (hosts.empty()) return;
  if (const auto ready = LatestOfAll(hosts, Ready)) {
    if (job.phase == TrainingPhase::kLaunching) TellRestored(job, hosts);
    BecomeReady(job, *ready);
    if (job.phase == TrainingPhase::kLaunching && Earliest(hosts, AgentPhase::kDownloading)) {
      Advance(record, TrainingPhase::kDownloading);
      EnterStatus(job, "Downloading", "Downloading input data", *ready);
    }
  }
  const auto trained =
      LatestOfAll(hosts, [](const auto& host) { return Began(host, AgentPhase::kTraining); });
  const bool before =
      job.phase == TrainingPhase::kLaunching || job.phase == TrainingPhase::kDownloading;
  if (trained && before) {
    Advance(record, TrainingPhase::kTraining);
    if (job.deadline && !job.attempts.empty()) job.attempts.back().began = *trained;
    EnterStatus(job, "Training", "Training image download completed. Training in progress.",
                *trained);
  }
  const auto uploading = Earliest(hosts, AgentPhase::kUploading);
  if (uploading && job.phase == TrainingPhase::kTraining) {
    Advance(record, TrainingPhase::kUploading);
    EnterStatus(job, "Uploading", "Uploading generated training model", *uploading);
  }
}

void CollectResults(TrainingJob& job, const std::vector<InstanceView>& hosts) {
  for (const InstanceView& host : hosts) {
    if (!host.report) continue;
    job.model_uploaded = job.model_uploaded || host.report->model_uploaded;
    for (const model::FinalMetric& metric : host.report->metrics) {
      const auto same = std::find_if(job.final_metrics.begin(), job.final_metrics.end(),
                                     [&](const auto& known) { return known.name == metric.name; });
      if (same == job.final_metrics.end()) {
        job.final_metrics.push_back(metric);
      } else if (same->time <= metric.time) {
        *same = metric;
      }
    }
    for (const model::ChannelReport& channel : host.report->channels) {
      model::AddChannel(job.channels, channel);
    }
    for (const std::string& note : host.report->notes) {
      if (job.notes.size() >= kNotesMax) break;
      if (std::find(job.notes.begin(), job.notes.end(), note) == job.notes.end())
        job.notes.push_back(note);
    }
  }
}

const InstanceView* FirstFailure(const std::vector<InstanceView>& hosts) {
  const InstanceView* first = nullptr;
  for (const InstanceView& host : hosts) {
    if (!Failed(host)) continue;
    const auto time_of = [](const InstanceView& h) {
      const auto exited = Began(h, AgentPhase::kExited);
      return exited ? *exited
                    : Began(h, AgentPhase::kUploading).value_or(EndOf(h, WallTime::max()));
    };
    if (first == nullptr || time_of(host) < time_of(*first)) first = &host;
  }
  return first;
}

std::string FailureText(const InstanceView& host) {
  if (host.fault)
    return host.fault->users ? ClientFailure(host.fault->text) : InternalFailure(host.fault->text);
  const model::Report& report = *host.report;
  // A program that failed is the cause, even when uploading what it left failed too.
  if (ProgramFailed(report)) return AlgorithmFailure(report, host.record);
  return report.error_is_users ? ClientFailure(report.error) : InternalFailure(report.error);
}

bool FailureIsOurs(const InstanceView& host) {
  if (host.fault) return !host.fault->users;
  return host.report && !ProgramFailed(*host.report) && !host.report->error_is_users;
}

}  // namespace sabia::plan
