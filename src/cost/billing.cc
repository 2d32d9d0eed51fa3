#include "cost/billing.h"

#include <algorithm>
#include <span>

#include "model/instance_groups.h"
#include "model/instance_record.h"

namespace sabia::cost {
namespace {

using model::Attempt;
using model::LedgerEntry;
using model::LedgerKind;
using model::TrainingJob;

// The types of the job's instances, in the order of their numbers.
std::vector<std::string> HostTypes(const TrainingJob& job) {
  std::vector<std::string> out;
  for (const model::InstanceGroup& group : model::InstanceGroupsOf(job.request)) {
    out.insert(out.end(), static_cast<std::size_t>(std::max(0, group.count)), group.instance_type);
  }
  return out;
}

// What all instances of one attempt have in common.
struct Use {
  int attempt = 1;
  LedgerKind kind = LedgerKind::kOnDemand;
  WallTime waited_from;
  WallTime start;
  WallTime end;
  std::optional<WallTime> lost_from;
  std::optional<Money> per_hour;  // of all instances together, where a market said so
};

void SetPrice(const PriceLists& prices, LedgerEntry& entry) {
  const auto quote = prices.Find(entry.region, entry.instance_type, entry.start);
  if (!quote) return;
  entry.price_date = quote->date;
  entry.price_region = quote->region;
  entry.on_demand_per_hour = quote->price.on_demand_per_hour;
  if (entry.kind == LedgerKind::kWaiting) return;
  entry.per_hour = entry.kind == LedgerKind::kSpot ? quote->price.SpotPerHour()
                                                   : quote->price.on_demand_per_hour;
}

// A price of all instances by their list prices, to the last billionth.
void Share(Money total, std::span<LedgerEntry> entries) {
  __int128 sum = 0;
  for (const LedgerEntry& entry : entries) sum += entry.on_demand_per_hour.nanos();
  const auto count = static_cast<__int128>(entries.size());
  __int128 weight = 0;  // of the entries so far
  std::int64_t given = 0;
  for (LedgerEntry& entry : entries) {
    weight += sum > 0 ? static_cast<__int128>(entry.on_demand_per_hour.nanos()) : 1;
    const auto upto = static_cast<std::int64_t>(total.nanos() * weight / (sum > 0 ? sum : count));
    entry.per_hour = Money::FromNanos(upto - given);
    given = upto;
  }
}

void AddUse(const PriceLists& prices, const TrainingJob& job, const Use& use,
            std::vector<LedgerEntry>& out) {
  int number = 0;
  const std::size_t first = out.size();
  for (std::string& type : HostTypes(job)) {
    LedgerEntry entry;
    entry.instance = model::InstanceId(job.uid, use.attempt, ++number);
    entry.kind = use.kind;
    entry.job_name = job.name;
    entry.job_arn = job.arn;
    entry.region = job.region;
    entry.account = job.account;
    entry.instance_type = std::move(type);
    entry.start = use.start;
    entry.end = std::max(use.start, use.end);
    entry.waited_from = std::min(use.waited_from, use.start);
    entry.lost_from = use.lost_from;
    SetPrice(prices, entry);
    out.push_back(std::move(entry));
  }
  if (use.per_hour) Share(*use.per_hour, std::span(out).subspan(first));
}

// Whether another attempt had to go on where this one was.
bool WasLost(const TrainingJob& job, std::size_t index) {
  const std::string& reason = job.attempts[index].end_reason;
  return reason == "interrupted" || reason == "lost" || index + 1 < job.attempts.size() ||
         job.phase == model::TrainingPhase::kQueued;
}

Use UseOf(const TrainingJob& job, std::size_t index, WallTime now) {
  const Attempt& attempt = job.attempts[index];
  Use use;
  use.attempt = attempt.number;
  use.kind = attempt.spot ? LedgerKind::kSpot : LedgerKind::kOnDemand;
  use.per_hour = attempt.per_hour;
  use.waited_from =
      index == 0 ? job.created : job.attempts[index - 1].ended.value_or(attempt.launched);
  use.end = attempt.ended.value_or(std::max(now, attempt.launched));
  use.start = std::min(attempt.ready.value_or(use.end), use.end);
  if (attempt.ended && WasLost(job, index) && use.start < use.end) {
    const WallTime lost = std::clamp(attempt.saved.value_or(use.start), use.start, use.end);
    if (lost < use.end) use.lost_from = lost;
  }
  return use;
}

// Waiting after the last attempt: it goes on, or the job ended in it.
std::optional<Use> LastWait(const TrainingJob& job, WallTime now) {
  const bool waits = job.phase == model::TrainingPhase::kQueued;
  if (!waits && !model::IsTerminal(job.phase)) return std::nullopt;
  Use use;
  use.attempt = static_cast<int>(job.attempts.size()) + 1;
  use.kind = LedgerKind::kWaiting;
  use.waited_from = model::QueuedSince(job);
  use.start = use.end = std::max(now, use.waited_from);
  if (waits) return use;
  if (job.transitions.empty()) return std::nullopt;
  const bool queued_again =
      job.attempts.empty() ||
      std::any_of(job.transitions.begin(), job.transitions.end(), [&](const auto& transition) {
        const bool waiting = transition.status == "Starting" || transition.status == "Pending";
        return waiting && transition.start >= use.waited_from;
      });
  if (!queued_again) return std::nullopt;
  use.start = use.end = std::max(use.waited_from, job.transitions.back().start);
  return use;
}

// The instances of the job's last attempt, kept for the next job.
void AddRetention(const PriceLists& prices, const TrainingJob& job, WallTime until,
                  std::vector<LedgerEntry>& out) {
  if (job.attempts.empty() || !job.warm_pool->retained_from) return;
  Use use;
  use.attempt = job.attempts.back().number;
  use.kind = LedgerKind::kWarmPool;
  use.waited_from = use.start = *job.warm_pool->retained_from;
  use.end = until;
  AddUse(prices, job, use, out);
}

}  // namespace

std::vector<LedgerEntry> EntriesOfStep(const PriceLists& prices, const TrainingJob& before,
                                       const TrainingJob& after) {
  std::vector<LedgerEntry> out;
  for (std::size_t i = 0; i < after.attempts.size(); ++i) {
    const bool ended_before = i < before.attempts.size() && before.attempts[i].ended;
    if (!after.attempts[i].ended || ended_before) continue;
    AddUse(prices, after, UseOf(after, i, *after.attempts[i].ended), out);
  }
  const bool was_kept = before.warm_pool && before.warm_pool->retained_until;
  if (after.warm_pool && after.warm_pool->retained_until && !was_kept)
    AddRetention(prices, after, *after.warm_pool->retained_until, out);
  if (model::IsTerminal(after.phase) && !model::IsTerminal(before.phase)) {
    if (const auto wait = LastWait(after, after.modified)) AddUse(prices, after, *wait, out);
  }
  return out;
}

std::vector<LedgerEntry> EntriesOfJob(const PriceLists& prices, const TrainingJob& job,
                                      WallTime now) {
  std::vector<LedgerEntry> out;
  for (std::size_t i = 0; i < job.attempts.size(); ++i)
    AddUse(prices, job, UseOf(job, i, now), out);
  if (job.warm_pool && job.warm_pool->retained_from)
    AddRetention(prices, job, job.warm_pool->retained_until.value_or(now), out);
  if (const auto wait = LastWait(job, now)) AddUse(prices, job, *wait, out);
  return out;
}

Money CostWithin(const LedgerEntry& entry, WallTime from, WallTime to) {
  const WallTime begin = std::clamp(from, entry.start, entry.end);
  const WallTime end = std::clamp(to, begin, entry.end);
  return CostOf(entry.per_hour, end - entry.start) - CostOf(entry.per_hour, begin - entry.start);
}

Millis TimeWithin(const LedgerEntry& entry, WallTime from, WallTime to) {
  const WallTime begin = std::clamp(from, entry.start, entry.end);
  return std::clamp(to, begin, entry.end) - begin;
}

}  // namespace sabia::cost
