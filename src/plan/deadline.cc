#include "plan/deadline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "plan/progress.h"
#include "spot/planner.h"

namespace sabia::plan {
namespace {

using model::Attempt;
using model::TrainingJob;
using spot::Placement;

// Of a start that has not been measured yet, and of the uploads at the end, which never are: a
// share of the work, within these.
constexpr std::int64_t kStartShare = 20;
constexpr Millis kStartLeast{2'000};
constexpr Millis kStartMost{60'000};
// The next start may take longer than those before it, by a quarter.
constexpr std::int64_t kStartSlack = 4;
// A policy is asked so often within its job's time, within these.
constexpr std::int64_t kLooks = 288;
constexpr Millis kLookLeast{1'000};
constexpr Millis kLookMost{300'000};
// A plan of two megabytes per job; it is made in milliseconds.
constexpr std::int64_t kPlanCells = 500'000;
// When a bound has to grow, it grows by so much, for the sake of fewer plans.
constexpr std::int64_t kGrowthPercent = 150;

bool SavesWork(const TrainingJob& job) { return FindObject(job.request, "CheckpointConfig"); }

Millis WorkOf(const TrainingJob& job) {
  const Millis most = job.MaxRuntime().value_or(job.MaxWait().value_or(Seconds(1)));
  if (!job.deadline || !job.deadline->expected_runtime) return most;
  return std::min<Millis>(*job.deadline->expected_runtime, most);
}

Millis Assumed(const TrainingJob& job) {
  return std::clamp(WorkOf(job) / kStartShare, kStartLeast, kStartMost);
}

// What the checkpoints of a placement hold of its running time.
Millis Kept(const TrainingJob& job, const std::optional<WallTime>& began,
            const std::optional<WallTime>& saved) {
  if (!SavesWork(job) || !began || !saved) return Millis(0);
  return std::max(*saved - *began, Millis(0));
}

// MaxRuntimeInSeconds ends the job, whatever it still had to do.
double WorkErrorOf(const TrainingJob& job) {
  const auto limit = job.MaxRuntime();
  if (!limit) return kWorkError;
  const auto most = static_cast<double>(Millis(*limit).count());
  return std::clamp(most / static_cast<double>(WorkOf(job).count()) - 1, 0.0, kWorkError);
}

Placement PlacementOf(const TrainingJob& job) {
  if (job.phase == model::TrainingPhase::kQueued || job.attempts.empty()) return Placement::kIdle;
  return job.attempts.back().spot ? Placement::kSpot : Placement::kOnDemand;
}

// The past of a market that nobody models: what the job itself has lived through.
std::vector<spot::Spell> OwnSpells(const TrainingJob& job, const TrainingRules& rules) {
  std::vector<spot::Spell> out;
  for (const Attempt& attempt : job.attempts) {
    if (!attempt.spot) continue;
    const bool reclaimed = attempt.end_reason == "interrupted" || attempt.end_reason == "lost";
    const Millis length = attempt.ended ? *attempt.ended - attempt.launched : Millis(1);
    out.push_back({true, std::max(length, Millis(1)), true, reclaimed});
    if (reclaimed) out.push_back({false, rules.replacement_delay, true, true});
  }
  return out;
}

std::unique_ptr<spot::Policy> PolicyOf(const DeadlineQuestion& q, const spot::JobTerms& terms) {
  switch (q.job.deadline->policy) {
    case model::DeadlinePolicy::kGreedy:
      return spot::MakeGreedy(terms);
    case model::DeadlinePolicy::kUniformProgress:
      return spot::MakeUniformProgress(terms, spot::Foresight::kNone);
    case model::DeadlinePolicy::kPlanner:
      break;
  }
  std::vector<spot::Spell> past =
      q.market.observed ? spot::PastSpells(*q.market.gang, {q.now, terms.look, q.market.history})
                        : OwnSpells(q.job, q.rules);
  spot::PlannerOptions options;
  options.cells_max = kPlanCells;
  return std::make_unique<spot::Planner>(terms, std::move(past), options);
}

}  // namespace

Millis LookOf(const TrainingJob& job) {
  return std::clamp<Millis>(Millis(job.MaxWait().value_or(Seconds(1))) / kLooks, kLookLeast,
                            kLookMost);
}

Standing StandingOf(const TrainingJob& job, const std::vector<InstanceView>& hosts,
                    const TrainingRules& rules, WallTime now) {
  Standing out{.start = Assumed(job), .stop = std::min(rules.reclaim_notice, rules.stop_grace)};
  Millis measured{0};
  for (const Attempt& attempt : job.attempts) {
    if (attempt.began) measured = std::max(measured, *attempt.began - attempt.launched);
    if (!attempt.ended) continue;
    const Millis kept = Kept(job, attempt.began, attempt.saved);
    out.saved += kept;
    if (SavesWork(job) && attempt.began) {
      out.longest_gap = std::max(out.longest_gap, *attempt.ended - *attempt.began - kept);
    }
  }
  if (measured > Millis(0)) out.start = measured + measured / kStartSlack + kLookLeast;
  if (job.phase == model::TrainingPhase::kQueued || job.attempts.empty()) return out;
  const Attempt& current = job.attempts.back();
  if (current.ended) return out;
  out.in_place = now - current.launched;
  if (!current.began) {
    out.start_left = std::max(out.start - *out.in_place, Millis(0));
    return out;
  }
  const Millis ran = std::max(now - *current.began, Millis(0));
  const Millis kept = std::min(Kept(job, current.began, LastSaved(hosts)), ran);
  out.saved += kept;
  out.unsaved = ran - kept;
  return out;
}

DeadlineAdvisor::DeadlineAdvisor() = default;
DeadlineAdvisor::~DeadlineAdvisor() = default;
DeadlineAdvisor::DeadlineAdvisor(DeadlineAdvisor&&) noexcept = default;
DeadlineAdvisor& DeadlineAdvisor::operator=(DeadlineAdvisor&&) noexcept = default;

spot::JobTerms DeadlineAdvisor::TermsOf(const DeadlineQuestion& q, const Standing& standing) const {
  const TrainingJob& job = q.job;
  spot::JobTerms terms{.work = WorkOf(job),
                       .work_error = WorkErrorOf(job),
                       .time = std::max(*job.MaxWait() - Assumed(job), Millis(1)),
                       .changeover = standing.start + standing.stop,
                       .look = LookOf(job),
                       .spot_per_hour = q.market.spot_per_hour,
                       .on_demand_per_hour = q.market.on_demand_per_hour};
  // By the next look the program may have done so much more that is in no checkpoint.
  const Millis next = std::max(standing.unsaved + terms.look, standing.longest_gap);
  terms.lost_work_max = SavesWork(job) ? std::min(next, terms.WorkMax()) : terms.WorkMax();
  return terms;
}

// Makes the policy anew where what it was made with does not hold any more.
void DeadlineAdvisor::Renew(const DeadlineQuestion& q, const spot::JobTerms& needed) {
  const bool holds = policy_ != nullptr && zone_ == q.market.zone &&
                     needed.lost_work_max <= terms_.lost_work_max &&
                     needed.changeover <= terms_.changeover &&
                     needed.changeover * 2 >= terms_.changeover;
  if (holds) return;
  const bool grows = policy_ != nullptr && needed.lost_work_max > terms_.lost_work_max;
  const Millis known = std::max(needed.lost_work_max, terms_.lost_work_max);
  terms_ = needed;
  terms_.lost_work_max = std::min(grows ? known * kGrowthPercent / 100 : known, terms_.WorkMax());
  zone_ = q.market.zone;
  policy_ = PolicyOf(q, terms_);
}

Placement DeadlineAdvisor::Ask(const spot::Situation& now, std::string& why) {
  if (auto* planner = dynamic_cast<spot::Planner*>(policy_.get())) {
    const spot::Advice advice = planner->Advise(now);
    why = advice.Explain();
    return advice.placement;
  }
  const Placement placement = policy_->Decide(now);
  why = spot::Name(placement);
  return placement;
}

SpotAdvice DeadlineAdvisor::Advise(const DeadlineQuestion& q) {
  CHECK(q.job.deadline && q.job.MaxWait());
  const Standing standing = StandingOf(q.job, q.hosts, q.rules, q.now);
  Renew(q, TermsOf(q, standing));
  const Placement placed = PlacementOf(q.job);
  const spot::Situation now{
      .time_left = q.job.created + *q.job.MaxWait() - Assumed(q.job) - q.now,
      .work_done = standing.saved + standing.unsaved,
      .placement = placed,
      .changeover_left = standing.start_left,
      .spot_available = placed == Placement::kSpot || q.market.can_launch,
      .spell_age = placed == Placement::kSpot && standing.in_place
                       ? *standing.in_place
                       : spot::SpellAge(*q.market.gang, q.now, q.market.history),
      .spot_lifetime = {}};
  std::string why;
  Placement advised = Placement::kOnDemand;
  if (now.time_left <= Millis(0)) {
    advised = spot::LastResort(terms_, now);
    why = fmt::format("{}: there is no time left", spot::Name(advised));
  } else if (now.work_done >= terms_.WorkMax()) {
    why = "on-demand: the work has outgrown its estimate";
  } else {
    advised = Ask(now, why);
    // Who leaves may lose what is in no checkpoint yet.
    spot::Situation left = now;
    left.work_done = standing.saved;
    left.placement = Placement::kIdle;
    const bool leaves = placed == Placement::kOnDemand && advised != placed;
    if (leaves && !spot::IsSafe(terms_, left, advised)) {
      advised = placed;
      why = "on-demand: leaving could miss the deadline";
    }
    const bool stays = placed == Placement::kSpot && advised != Placement::kOnDemand;
    if (stays) advised = Placement::kSpot;
    if (stays && !spot::IsSafe(terms_, now, Placement::kSpot)) {
      advised = spot::LastResort(terms_, now);
      why = fmt::format("{}: staying on spot could miss the deadline", spot::Name(advised));
    }
  }
  if (last_ != advised) {
    last_ = advised;
    last_why_ = fmt::format("{}: {}", Name(q.job.deadline->policy), why);
  }
  return {advised, last_why_};
}

}  // namespace sabia::plan
