#include "control/spot_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace sabia::control {
namespace {

using model::TrainingPhase;

// How far back the age of a zone's capacity is looked for, when zones are compared.
constexpr Millis kAgeMost{std::chrono::hours(24 * 3)};

bool Runs(const model::TrainingJob& job) {
  return job.phase == TrainingPhase::kLaunching || job.phase == TrainingPhase::kDownloading ||
         job.phase == TrainingPhase::kTraining || job.phase == TrainingPhase::kUploading;
}

std::string Text(const fleet::InstanceCounts& instances) {
  std::string out;
  for (const auto& [type, count] : instances) {
    out += fmt::format("{}{} x {}", out.empty() ? "" : " and ", count, type);
  }
  return out;
}

}  // namespace

struct SpotDesk::Question {
  const plan::TrainingSnapshot& seen;
  fleet::InstanceCounts instances;
  bool decides = false;
};

// The cheapest zone with capacity; of equal ones that in which it has been there longest, for old
// capacity goes more seldom.
void SpotDesk::SeeOffer(const Question& q, plan::SpotView& view) const {
  if (!q.decides) return;
  view.offer.reset();
  std::tuple<Money, Millis> best;
  for (const std::string& zone : markets_->zones()) {
    const auto gang = markets_->GangIn(zone, q.instances);
    if (!spot::CanLaunch(*gang, q.seen.now, rules_.reclaim_notice)) continue;
    const Money price = gang->At(q.seen.now).per_hour;
    const std::tuple rank(price, -spot::SpellAge(*gang, q.seen.now, kAgeMost));
    if (view.offer && rank >= best) continue;
    best = rank;
    view.offer = plan::SpotOffer{zone, price};
  }
  if (view.offer) return;
  view.no_offer = fmt::format("there is no spot capacity for {} in {}", Text(q.instances),
                              fmt::join(markets_->zones(), ", "));
}

// When the capacity that is missing now comes. Nobody decides by it: it is when to look again.
std::optional<WallTime> SpotDesk::NextLaunch(const Question& q) const {
  std::optional<WallTime> next;
  for (const std::string& zone : markets_->zones()) {
    const auto there = spot::NextLaunch(*markets_->GangIn(zone, q.instances),
                                        q.seen.now + Millis(1), rules_.reclaim_notice);
    if (there) next = std::min(next.value_or(*there), *there);
  }
  return next;
}

void SpotDesk::SeeNotice(const Question& q, SpotMemory& memory, plan::SpotView& view) const {
  if (!q.decides || !Runs(q.seen.job) || q.seen.job.attempts.empty()) return;
  const model::Attempt& attempt = q.seen.job.attempts.back();
  if (!attempt.spot || attempt.zone.empty()) return;
  if (memory.attempt != attempt.number) {
    const auto gang = markets_->GangIn(attempt.zone, q.instances);
    memory.notice = spot::NextEvent(*gang, {.since = attempt.launched, .instances = 1},
                                    attempt.launched - Millis(1),
                                    {.notice = rules_.reclaim_notice, .rebalance_lead = {}});
    memory.attempt = attempt.number;
  }
  view.notice = memory.notice;
}

std::string SpotDesk::ZoneOf(const Question& q, const plan::SpotView& view) const {
  const model::TrainingJob& job = q.seen.job;
  if (Runs(job) && !job.attempts.empty() && job.attempts.back().spot) {
    return job.attempts.back().zone;
  }
  if (view.offer && !view.offer->zone.empty()) return view.offer->zone;
  return markets_->zones().front();
}

void SpotDesk::SeeAdvice(const Question& q, SpotMemory& memory, plan::SpotView& view) const {
  const model::TrainingJob& job = q.seen.job;
  const bool queued = job.phase == TrainingPhase::kQueued;
  if (!job.deadline || !job.MaxWait() || (!queued && !Runs(job))) return;
  const Millis look = plan::LookOf(job);
  const std::string situation =
      fmt::format("{} {} {} {}", job.attempts.size(), Name(job.phase), view.offer.has_value(),
                  view.offer ? view.offer->zone : "");
  const bool old = !memory.asked_at || q.seen.now >= *memory.asked_at + look ||
                   q.seen.now < *memory.asked_at || memory.asked_in != situation;
  if (old) {
    const auto prices = markets_->PricesOf(q.instances);
    plan::MarketNow market{.zone = ZoneOf(q, view),
                           .gang = nullptr,
                           .can_launch = view.offer.has_value(),
                           .observed = q.decides,
                           .history = markets_->history(),
                           .spot_per_hour = prices ? prices->spot_per_hour : Money(),
                           .on_demand_per_hour = prices ? prices->on_demand_per_hour : Money()};
    market.gang = markets_->GangIn(market.zone, q.instances);
    if (q.decides) market.spot_per_hour = market.gang->At(q.seen.now).per_hour;
    memory.advice = memory.advisor.Advise({job, q.seen.instances, rules_, market, q.seen.now});
    memory.asked_at = q.seen.now;
    memory.asked_in = situation;
  }
  view.advice = memory.advice;
  view.look_at = std::min(view.look_at.value_or(WallTime::max()), *memory.asked_at + look);
}

plan::SpotView SpotDesk::See(const plan::TrainingSnapshot& seen, SpotMemory& memory) const {
  plan::SpotView view;
  if (markets_ == nullptr || !seen.job.IsSpot()) return view;
  Question q{seen, fleet::InstancesOf(seen.job), false};
  q.decides = markets_->Decides(q.instances);
  const bool elsewhere = seen.job.phase == TrainingPhase::kQueued ||
                         (Runs(seen.job) && seen.job.deadline && !seen.job.attempts.empty() &&
                          !seen.job.attempts.back().spot);
  if (elsewhere) {
    SeeOffer(q, view);
    if (q.decides && !view.offer) view.look_at = NextLaunch(q);
  }
  SeeNotice(q, memory, view);
  SeeAdvice(q, memory, view);
  return view;
}

}  // namespace sabia::control
