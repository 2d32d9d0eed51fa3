// Goal: no sequence of reports and events, however odd, leads a job over an illegal edge, back in
// time, or into a bill for seconds that it did not have. Method: random walks from printed seeds:
// hosts move on, fail, die and lie about nothing; requests to stop and to interrupt come at any
// moment; after each step every invariant is checked, and in the end the job has to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/progress.h"
#include "plan/testing/snapshots.h"

namespace sabia::plan {
namespace {

using model::AgentPhase;
using model::StopReason;
using model::TrainingPhase;

constexpr int kSeeds = 3000;
constexpr int kStepsMax = 400;

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) {
    testing::JobOptions options;
    options.spot = Chance(50);
    options.hosts = 1 + Below(3);
    options.max_runtime = 5 + Below(200);
    if (options.spot && Chance(70)) options.max_wait = options.max_runtime + Below(200);
    options.retries = Below(3);
    hosts_ = options.hosts;
    seen_.job = testing::NewJob(options);
    seen_.now = testing::kCreated;
  }

  // Returns what is wrong, or "".
  std::string Run() {
    for (int step = 0; step < kStepsMax && !model::IsTerminal(seen_.job.phase); ++step) {
      seen_.now += Millis(Below(3000));
      Nature();
      std::string wrong = Settle();
      if (!wrong.empty()) return wrong;
    }
    return model::IsTerminal(seen_.job.phase) ? Final() : Finish();
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool Chance(int percent) { return Below(100) < percent; }

  // What happens outside of the planner.
  void Nature() {
    if (Chance(1)) seen_.job.stop_requested = seen_.job.stop_requested.value_or(seen_.now);
    if (Chance(5) && seen_.job.IsSpot())
      seen_.job.interrupt_attempt = static_cast<int>(seen_.job.attempts.size());
    seen_.capacity = {};
    if (seen_.job.phase == TrainingPhase::kQueued) {
      const bool free = Chance(60);
      seen_.capacity.answer =
          free ? CapacityView::Answer::kGranted : CapacityView::Answer::kWaiting;
      seen_.capacity.reason = "busy";
      if (free) seen_.capacity.slices.resize(static_cast<std::size_t>(hosts_));
    }
    for (InstanceView& host : seen_.instances) Act(host);
  }

  void Act(InstanceView& host) {
    host.killed = false;
    if (!host.alive) return;
    if (Chance(3)) {
      host.alive = false;  // the agent dies
      return;
    }
    if (!host.report) host.report.emplace();
    model::Report& report = *host.report;
    if (report.began.empty()) return Enter(report, AgentPhase::kPreparing);
    if (Chance(40)) return;
    if (!report.exit_code && host.orders.stop != StopReason::kNone &&
        report.stopped_for == StopReason::kNone) {
      report.stopped_for = host.orders.stop;
      if (!Trained(host)) return Finish(host);
      return Enter(report, AgentPhase::kStopping);
    }
    Proceed(host);
  }

  void Proceed(InstanceView& host) {
    model::Report& report = *host.report;
    switch (report.phase) {
      case AgentPhase::kPreparing:
        return Enter(report, Chance(50) ? AgentPhase::kDownloading : AgentPhase::kTraining);
      case AgentPhase::kDownloading:
        if (Chance(5)) {
          report.error = "no such key";
          report.error_is_users = Chance(50);
          return Finish(host);
        }
        return Enter(report, AgentPhase::kTraining);
      case AgentPhase::kTraining:
        if (Chance(70)) return;
        [[fallthrough]];
      case AgentPhase::kStopping:
        report.exit_code = Chance(15) ? 1 : 0;
        return Enter(report, hosts_ == 1 ? AgentPhase::kUploading : AgentPhase::kExited);
      case AgentPhase::kExited:
        if (host.orders.dismiss) return Finish(host);
        if (host.orders.upload) Enter(report, AgentPhase::kUploading);
        return;
      case AgentPhase::kUploading:
        report.model_uploaded = report.exit_code == 0;
        return Finish(host);
      case AgentPhase::kDone:
        return;
    }
  }

  void Enter(model::Report& report, AgentPhase phase) {
    report.phase = phase;
    // Clocks of agents are a little off, and may be set back.
    report.began.emplace(phase, seen_.now + Millis(Below(2000) - 1000));
  }
  void Finish(InstanceView& host) {
    Enter(*host.report, AgentPhase::kDone);
    host.alive = false;
  }

  // Performs actions until there is none.
  std::string Settle() {
    constexpr int kActionsMax = 30;
    for (int i = 0; i < kActionsMax; ++i) {
      const auto action = NextStep(seen_, rules_);
      const auto again = NextStep(seen_, rules_);
      if (action.has_value() != again.has_value() ||
          (action && action->index() != again->index())) {
        return "asked twice, answered differently";
      }
      if (!action) return "";
      const std::string wrong = Perform(*action);
      if (!wrong.empty()) return wrong;
    }
    return "the planner does not come to rest in " + std::string(Name(seen_.job.phase));
  }

  std::string Perform(const Action& action) {
    if (const auto* record = std::get_if<Record>(&action)) {
      if (!record->illegal.empty()) return "illegal step " + record->illegal;
      seen_.job = record->job;
      if (record->give_back) {
        for (const InstanceView& host : seen_.instances) {
          if (host.alive) return "gave back an instance whose agent lives";
        }
        seen_.instances.clear();
      }
      for (const model::InstanceRecord& lease : record->lease) {
        seen_.instances.emplace_back();
        seen_.instances.back().record = lease;
      }
      return Invariants();
    }
    for (InstanceView& host : seen_.instances) {
      const auto* launch = std::get_if<Launch>(&action);
      const auto* kill = std::get_if<Kill>(&action);
      const auto* order = std::get_if<Order>(&action);
      const auto named = [&](const auto& ids) {
        return std::find(ids.begin(), ids.end(), host.record.id) != ids.end();
      };
      if (launch != nullptr && named(launch->ids)) {
        ++host.launches;
        host.alive = !Chance(10);
      }
      if (kill != nullptr && named(kill->ids)) {
        host.killed = true;
        host.alive = Chance(50);
      }
      if (order != nullptr && order->orders.contains(host.record.id))
        host.orders = order->orders.at(host.record.id);
    }
    return "";
  }

  std::string Invariants() const {
    WallTime last = WallTime::min();
    for (const model::Transition& t : seen_.job.transitions) {
      if (t.start < last) return "a status begins before the one before it";
      last = t.start;
    }
    last = WallTime::min();
    for (const model::Attempt& attempt : seen_.job.attempts) {
      const WallTime begin = attempt.ready.value_or(attempt.launched);
      if (begin < last) return "a second is billed twice";
      if (attempt.ended && *attempt.ended < begin) return "an attempt ends before it begins";
      last = attempt.ended.value_or(begin);
    }
    const auto training = model::TrainingTime(seen_.job, seen_.now + Seconds(10));
    const auto billable = model::BillableTime(seen_.job, seen_.now + Seconds(10));
    if (training && billable && *billable > *training) return "billed more than it trained";
    if (seen_.job.failure_reason.size() > 1024) return "the failure reason is too long";
    return "";
  }

  std::string Final() const {
    const model::TrainingJob& job = seen_.job;
    if (!seen_.instances.empty()) return "ended with instances";
    if (!job.training_end) return "ended without an end";
    if (!job.transitions.back().end) return "the last status did not end";
    if ((job.phase == TrainingPhase::kFailed) != !job.failure_reason.empty()) {
      return "failed without a reason, or has a reason without having failed";
    }
    return "";
  }

  // Everything calms down and somebody stops the job: then it has to end.
  std::string Finish() {
    seen_.job.stop_requested = seen_.now;
    constexpr int kCalmMax = 400;
    for (int i = 0; i < kCalmMax && !model::IsTerminal(seen_.job.phase); ++i) {
      seen_.now += Seconds(10);
      for (InstanceView& host : seen_.instances) {
        host.killed = false;
        if (host.alive && !host.report) host.report.emplace();
        if (host.alive && host.report) Act(host);
      }
      std::string wrong = Settle();
      if (!wrong.empty()) return wrong;
    }
    return model::IsTerminal(seen_.job.phase) ? Final() : "does not end after a stop";
  }

  std::mt19937 random_;
  TrainingRules rules_;
  TrainingSnapshot seen_;
  int hosts_ = 1;
};

TEST(PlannerProperties, HoldUnderRandomHistories) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(Walk(seed).Run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sabia::plan
