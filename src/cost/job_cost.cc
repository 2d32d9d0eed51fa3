#include "cost/job_cost.h"

#include <algorithm>
#include <tuple>

#include "model/instance_groups.h"
#include "model/instance_record.h"

namespace sabia::cost {
namespace {

using model::LedgerEntry;
using model::LedgerKind;

auto KeyOf(const LedgerEntry& entry) { return std::tie(entry.instance, entry.kind); }

bool IsAttempt(const LedgerEntry& entry) {
  return entry.kind == LedgerKind::kOnDemand || entry.kind == LedgerKind::kSpot;
}

// Lines of the instances of one attempt of the job.
std::vector<const LedgerEntry*> LinesOf(const JobCost& cost, const model::TrainingJob& job,
                                        int attempt) {
  const std::string first = model::InstanceId(job.uid, attempt, 1);
  const std::string_view stem(first.data(), first.rfind('-') + 1);
  std::vector<const LedgerEntry*> out;
  for (const LedgerEntry& entry : cost.entries) {
    if (IsAttempt(entry) && entry.instance.starts_with(stem)) out.push_back(&entry);
  }
  return out;
}

Status AddInstances(const PriceLists& prices, const model::TrainingJob& job, JobCost& cost) {
  for (const model::InstanceGroup& group : model::InstanceGroupsOf(job.request)) {
    const std::string& type = group.instance_type;
    const auto quote = prices.Find(job.region, type, job.created);
    if (!quote) {
      return Fail(ErrorCode::kNotFound, "no price of {} in {} is known", type,
                  cost.price_region.empty() ? job.region : cost.price_region);
    }
    if (cost.price_region.empty() && quote->region != job.region) {
      cost.notes.push_back(fmt::format("no prices are known for {}: those of {} are used",
                                       job.region, quote->region));
    }
    cost.price_region = quote->region;
    if (job.IsSpot() && !quote->price.spot_saving_percent) {
      cost.notes.push_back(fmt::format(
          "no spot price of {} in {} is known: on-demand rates are used", type, quote->region));
    }
    cost.instances.push_back({type, group.count, quote->price});
  }
  return {};
}

// When the program of an attempt began; nothing when it never did.
std::optional<WallTime> TrainedFrom(const model::TrainingJob& job, const model::Attempt& attempt) {
  if (!attempt.ready) return std::nullopt;
  for (const model::Transition& transition : job.transitions) {
    if (transition.status != "Training" || transition.start < *attempt.ready) continue;
    if (attempt.ended && transition.start > *attempt.ended) break;
    return transition.start;
  }
  return std::nullopt;
}

// What a line would have cost if nothing had been reclaimed: from `kept_from` on, and without what
// was lost.
void AddOtherwise(const PriceLists& prices, const LedgerEntry& entry, WallTime kept_from,
                  JobCost& cost) {
  const WallTime kept_to = entry.lost_from.value_or(entry.end);
  const Millis kept = std::max(Millis(0), kept_to - std::max(kept_from, entry.start));
  Money spot = entry.per_hour;
  if (entry.kind != LedgerKind::kSpot) {
    const auto quote = prices.Find(entry.region, entry.instance_type, entry.start);
    if (quote) spot = quote->price.SpotPerHour();
  }
  cost.otherwise_on_demand += CostOf(entry.on_demand_per_hour, kept);
  cost.otherwise_spot += CostOf(spot, kept);
}

void AddAttempts(const PriceLists& prices, const model::TrainingJob& job, WallTime now,
                 JobCost& cost) {
  bool trained_before = false;
  for (const model::Attempt& attempt : job.attempts) {
    AttemptCost one;
    one.number = attempt.number;
    one.spot = attempt.spot;
    one.end_reason = attempt.end_reason;
    if (attempt.ready)
      one.billable = std::max(Millis(0), attempt.ended.value_or(now) - *attempt.ready);
    const auto trained = TrainedFrom(job, attempt);
    for (const LedgerEntry* entry : LinesOf(cost, job, attempt.number)) {
      one.billed += CostOfEntry(*entry);
      one.lost = entry->lost_from ? entry->end - *entry->lost_from : Millis(0);
      if (trained) {
        const WallTime kept_from = trained_before ? *trained : entry->start;
        AddOtherwise(prices, *entry, kept_from, cost);
      }
    }
    trained_before = trained_before || trained.has_value();
    cost.billed += one.billed;
    cost.attempts.push_back(std::move(one));
  }
}

void AddSums(JobCost& cost) {
  for (const LedgerEntry& entry : cost.entries) {
    cost.use.Add(entry, {entry.waited_from, entry.end});
    if (IsAttempt(entry))
      cost.on_demand += CostOf(entry.on_demand_per_hour, entry.end - entry.start);
  }
}

}  // namespace

double JobCost::saving_percent() const {
  if (on_demand.nanos() == 0) return 0;
  return 100.0 * static_cast<double>(saved().nanos()) / static_cast<double>(on_demand.nanos());
}

std::vector<LedgerEntry> MergeEntries(std::vector<LedgerEntry> ledger,
                                      std::vector<LedgerEntry> derived) {
  const auto by_key = [](const LedgerEntry& a, const LedgerEntry& b) {
    return KeyOf(a) < KeyOf(b);
  };
  std::vector<LedgerEntry> out = std::move(ledger);
  out.insert(out.end(), std::make_move_iterator(derived.begin()),
             std::make_move_iterator(derived.end()));
  std::stable_sort(out.begin(), out.end(), by_key);
  const auto last =
      std::unique(out.begin(), out.end(),
                  [](const LedgerEntry& a, const LedgerEntry& b) { return KeyOf(a) == KeyOf(b); });
  out.erase(last, out.end());
  return out;
}

Result<JobCost> CostOfJob(const PriceLists& prices, const model::TrainingJob& job, WallTime now,
                          std::vector<LedgerEntry> entries) {
  JobCost cost;
  RETURN_IF_ERROR(AddInstances(prices, job, cost));
  cost.entries = MergeEntries(std::move(entries), EntriesOfJob(prices, job, now));
  AddAttempts(prices, job, now, cost);
  AddSums(cost);
  cost.training = model::TrainingTime(job, now).value_or(Seconds(0));
  cost.billable = model::BillableTime(job, now).value_or(Seconds(0));
  cost.final = model::IsTerminal(job.phase);
  return cost;
}

}  // namespace sabia::cost
