#include "plan/endings.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "plan/failure_reason.h"
#include "plan/progress.h"
#include "plan/warm_pools.h"

namespace sabia::plan {
namespace {

using model::StopReason;
using model::TrainingJob;
using model::TrainingPhase;

struct Wording {
  std::string_view status;
  std::string_view message;
};

Wording StoppedWording(StopReason reason) {
  switch (reason) {
    case StopReason::kMaxRuntime:
      return {"MaxRuntimeExceeded", "Training job runtime exceeded MaxRuntimeInSeconds provided"};
    case StopReason::kMaxWait:
      return {"MaxWaitTimeExceeded",
              "Training job wait time exceeded MaxWaitTimeInSeconds provided"};
    case StopReason::kNone:
      return {"Stopped",
              "Training job stopped: it was pending for longer than MaxPendingTimeInSeconds"};
    case StopReason::kRequested:
    case StopReason::kInterrupted:
    case StopReason::kPeerLost:
    case StopReason::kInputFailed:
      return {"Stopped", "Training job stopped"};
  }
  return {"Stopped", "Training job stopped"};
}

WallTime LastEnd(const TrainingSnapshot& seen) {
  if (seen.instances.empty()) return seen.now;
  WallTime last = WallTime::min();
  for (const InstanceView& host : seen.instances) last = std::max(last, EndOf(host, seen.now));
  return last;
}

// Ends the current attempt; the billed interval cannot end before it began.
WallTime EndAttempt(const TrainingSnapshot& seen, TrainingJob& job, std::string_view reason) {
  WallTime end = LastEnd(seen);
  if (job.attempts.empty()) return end;
  model::Attempt& attempt = job.attempts.back();
  end = std::max(end, attempt.ready.value_or(attempt.launched));
  if (!attempt.ended) {
    attempt.ended = end;
    attempt.end_reason = reason;
    attempt.saved = LastSaved(seen.instances);
  }
  return *attempt.ended;
}

// The job's last entry: it ends as it begins, and the instances are given back in the same commit.
void EnterTerminal(Record& record, TrainingPhase phase, const Wording& wording, WallTime end) {
  TrainingJob& job = record.job;
  Advance(record, phase);
  record.give_back = true;
  EnterStatus(job, wording.status, wording.message, end);
  job.transitions.back().end = job.transitions.back().start;
  job.training_end =
      std::max(job.transitions.back().start, job.training_start.value_or(WallTime::min()));
  job.reclaim_at.reset();
}

bool AllEnded(const Question& q) {
  return std::all_of(q.seen.instances.begin(), q.seen.instances.end(),
                     [&](const auto& host) { return Ended(host, q.rules); });
}

std::string Describe(const model::InstanceRecord& instance) {
  return fmt::format("{} ({}, {})", instance.id, instance.Host(), instance.instance_type);
}

int RecentLosses(const TrainingJob& job, const TrainingRules& rules) {
  int losses = 0;
  for (auto it = job.attempts.rbegin(); it != job.attempts.rend(); ++it) {
    if (!it->ended) continue;  // the current one
    if (it->end_reason != "lost" || *it->ended - it->launched >= rules.loss_window) break;
    ++losses;
  }
  return losses;
}

// Fails the job for a reason that is known; the hosts that still run are stopped in the failing
// phase.
Record Failing(const Question& q, Record record, std::string reason) {
  record.job.failure_reason = std::move(reason);
  record.job.reclaim_at = q.seen.now + q.rules.stop_grace;
  Advance(record, TrainingPhase::kFailing);
  if (AllEnded(q)) return FinishFailing(q.seen, std::move(record));
  return record;
}

// What the program made of its notice, for who wonders whether it saves its work.
std::vector<std::string> HowProgramsEnded(const TrainingSnapshot& seen) {
  constexpr int kTerminated = 128 + SIGTERM;
  std::vector<std::string> out;
  for (const InstanceView& host : seen.instances) {
    if (!host.report || host.report->stopped_for != StopReason::kInterrupted) continue;
    const model::Report& report = *host.report;
    if (!report.exit_code && !report.signal) continue;
    std::string how;
    if (!report.ended_in_grace) {
      how = "had to be killed at the end of the notice";
    } else if (report.signal == SIGTERM || report.exit_code == kTerminated) {
      how = "ended on SIGTERM, which it does not handle";
    } else {
      how =
          fmt::format("handled SIGTERM and ended with exit code {}", report.exit_code.value_or(0));
    }
    out.push_back(fmt::format("attempt {}, {}: the program {}", seen.job.attempts.size(),
                              host.record.Host(), how));
  }
  return out;
}

Record BackToQueue(Record record, const std::string& message, WallTime when) {
  Advance(record, TrainingPhase::kQueued);
  EnterStatus(record.job, "Starting", message, when);
  record.job.failure_reason.clear();
  record.job.failure_is_ours = false;
  record.job.reclaim_at.reset();
  record.job.move_to.clear();
  LeavePool(record.job);
  record.give_back = true;
  return record;
}

}  // namespace

void AddNotes(TrainingJob& job, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (job.notes.size() >= kNotesMax) return;
    if (std::find(job.notes.begin(), job.notes.end(), note) == job.notes.end())
      job.notes.push_back(note);
  }
}

Record StopQueued(const TrainingSnapshot& seen, StopReason reason) {
  Record record{seen.job};
  record.job.stop_reason = reason;
  Advance(record, TrainingPhase::kStopping);
  EnterStatus(record.job, "Stopping", "Stopping the training job",
              record.job.stop_requested.value_or(seen.now));
  EnterTerminal(record, TrainingPhase::kStopped, StoppedWording(reason), seen.now);
  return record;
}

Record FailQueued(const TrainingSnapshot& seen, std::string reason) {
  Record record{seen.job};
  record.job.failure_reason = std::move(reason);
  EnterTerminal(record, TrainingPhase::kFailed, {"Failed", "Training job failed"}, seen.now);
  return record;
}

Record BeginStopping(const Question& q, Record record, StopReason reason, WallTime since) {
  record.job.stop_reason = reason;
  // Within a notice no stop lasts longer than that.
  const WallTime end = q.seen.now + q.rules.stop_grace;
  const bool noticed = record.job.phase == TrainingPhase::kInterrupting;
  record.job.reclaim_at = noticed ? std::min(end, record.job.reclaim_at.value_or(end)) : end;
  Advance(record, TrainingPhase::kStopping);
  EnterStatus(record.job, "Stopping", "Stopping the training job", since);
  if (AllEnded(q)) return FinishStopping(q.seen, std::move(record));
  return record;
}

Record BeginFailing(const Question& q, Record record, const InstanceView& host) {
  record.job.failure_is_ours = FailureIsOurs(host);
  return Failing(q, std::move(record), FailureText(host));
}

Record BeginInterrupting(const Question& q, Record record) {
  // Whoever asked for it may have promised an end of the notice already.
  record.job.reclaim_at = record.job.reclaim_at.value_or(q.seen.now + q.rules.reclaim_notice);
  const Millis left = std::max(*record.job.reclaim_at - q.seen.now, Millis(0));
  const auto notice = std::chrono::round<Seconds>(left);
  const std::string& zone = record.job.attempts.back().zone;
  Advance(record, TrainingPhase::kInterrupting);
  EnterStatus(
      record.job, "Interrupted",
      fmt::format("Spot capacity{} was reclaimed: instance {} got a notice of {} s at {}",
                  zone.empty() ? "" : " in " + zone, Describe(q.seen.instances.front().record),
                  notice.count(), FormatIso8601Seconds(q.seen.now)),
      q.seen.now);
  return record;
}

Record BeginMoving(const Question& q, Record record) {
  TrainingJob& job = record.job;
  const SpotAdvice& advice = *q.seen.spot.advice;
  job.move_to = spot::Name(advice.placement);
  job.interrupt_attempt = job.attempts.back().number;
  job.reclaim_at = q.seen.now + q.rules.reclaim_notice;
  if (q.seen.spot.notice)
    job.reclaim_at = std::min(*job.reclaim_at, q.seen.spot.notice->reclaim_at);
  Advance(record, TrainingPhase::kInterrupting);
  EnterStatus(job, "Interrupted",
              fmt::format("Leaving {} capacity for the sake of the deadline: {}",
                          job.attempts.back().spot ? "spot" : "on-demand", advice.why),
              q.seen.now);
  return record;
}

Record BeginLoss(const Question& q, Record record, const InstanceView& lost) {
  TrainingJob& job = record.job;
  const WallTime when = EndOf(lost, q.seen.now);
  std::string what = fmt::format(
      "instance {} was lost: its agent ended {} at {}", Describe(lost.record),
      lost.report ? "without a final report" : "before it could begin", FormatIso8601Seconds(when));
  if (!lost.last_words.empty()) what += ": " + lost.last_words;
  const bool began = std::any_of(q.seen.instances.begin(), q.seen.instances.end(), Trained);
  const int losses = RecentLosses(job, q.rules) + 1;
  if (losses >= q.rules.losses_max) {
    job.failure_is_ours = false;  // retrying is what did not help
    return Failing(q, std::move(record),
                   InternalFailure(fmt::format("{}; {} attempts in a row ended so", what, losses)));
  }
  if (!job.IsSpot() && began) {
    job.failure_is_ours = true;
    return Failing(q, std::move(record), InternalFailure(what));
  }
  job.reclaim_at = q.seen.now + q.rules.stop_grace;
  Advance(record, TrainingPhase::kInterrupting);
  if (began) {
    const bool spot = !job.attempts.empty() && job.attempts.back().spot;
    EnterStatus(job, "Interrupted",
                (spot ? "Spot capacity was lost: " : "On-demand capacity was lost: ") + what, when);
  } else {
    AddNotes(job, {fmt::format("attempt {} was replaced: {}", job.attempts.size(), what)});
    const std::string status = job.secondary_status;
    EnterStatus(job, status, "Launched instance was unhealthy, replacing it! (" + what + ")", when);
  }
  return record;
}

Record Complete(const TrainingSnapshot& seen, Record record) {
  CollectResults(record.job, seen.instances);
  const WallTime end = EndAttempt(seen, record.job, "completed");
  EnterTerminal(record, TrainingPhase::kCompleted, {"Completed", "Training job completed"}, end);
  KeepOrEndPool(seen, record);
  return record;
}

Record FinishStopping(const TrainingSnapshot& seen, Record record) {
  CollectResults(record.job, seen.instances);
  const WallTime end = EndAttempt(seen, record.job, "stopped");
  for (const InstanceView& host : seen.instances) {
    if (Failed(host)) AddNotes(record.job, {"while stopping: " + FailureText(host)});
  }
  EnterTerminal(record, TrainingPhase::kStopped, StoppedWording(record.job.stop_reason), end);
  KeepOrEndPool(seen, record);
  return record;
}

Record FinishFailing(const TrainingSnapshot& seen, Record record) {
  TrainingJob& job = record.job;
  CollectResults(job, seen.instances);
  const WallTime end = EndAttempt(seen, job, "failed");
  const bool retry = job.failure_is_ours && job.retries < job.MaxRetries() && !job.stop_requested;
  if (!retry) {
    EnterTerminal(record, TrainingPhase::kFailed, {"Failed", "Training job failed"}, end);
    KeepOrEndPool(seen, record);
    return record;
  }
  ++job.retries;
  AddNotes(job,
           {fmt::format("attempt {} was retried: {}", job.attempts.size(), job.failure_reason)});
  const std::string message = fmt::format("Starting the training job again, retry {} of {}: {}",
                                          job.retries, job.MaxRetries(), job.failure_reason);
  return BackToQueue(std::move(record), message, end);
}

Record Requeue(const TrainingSnapshot& seen, std::string_view end_reason) {
  Record record{seen.job};
  CollectResults(record.job, seen.instances);
  AddNotes(record.job, HowProgramsEnded(seen));
  const WallTime end = EndAttempt(seen, record.job, end_reason);
  const std::string message =
      fmt::format("Starting the training job again on new capacity (attempt {})",
                  record.job.attempts.size() + 1);
  return BackToQueue(std::move(record), message, end);
}

}  // namespace sabia::plan
