#include "api/job_costs.h"

#include <algorithm>
#include <map>

#include "api/training_jobs.h"
#include "cost/job_cost.h"
#include "cost/usage_query.h"
#include "store/training_job_row.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::Pass;

AwsResult<model::TrainingJob> Load(store::Resources& resources, const std::string& name) {
  const auto row = resources.Get(store::Kind::kTrainingJob, name);
  if (!row && row.error().code == ErrorCode::kNotFound) {
    return RefuseUnknownTrainingJob();
  }
  if (!row) return Pass(row.error());
  auto job = store::TrainingJobOf(*row);
  if (!job) return Pass(job.error());
  return std::move(*job);
}

json::object ToJson(const cost::InstanceCost& instance) {
  json::object out{{"InstanceType", instance.instance_type},
                   {"InstanceCount", instance.count},
                   {"OnDemandUsdPerHour", instance.price.on_demand_per_hour.dollars()},
                   {"Basis", instance.price.basis}};
  if (instance.price.spot_saving_percent) {
    out["SpotUsdPerHour"] = instance.price.SpotPerHour().dollars();
  }
  return out;
}

json::object ToJson(const cost::AttemptCost& attempt) {
  json::object out{{"Attempt", attempt.number},
                   {"Spot", attempt.spot},
                   {"BillableSeconds", static_cast<double>(attempt.billable.count()) / 1000},
                   {"LostSeconds", static_cast<double>(attempt.lost.count()) / 1000},
                   {"BilledUsd", attempt.billed.dollars()}};
  if (!attempt.end_reason.empty()) out["EndReason"] = attempt.end_reason;
  return out;
}

// Milliseconds as decimal seconds, exactly.
std::string SecondsText(Millis time) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  return Money::FromNanos(time.count() * kNanosPerMilli).ToExactString();
}

json::object ToJson(const cost::UsageSum& sum) {
  return {{"InstanceSeconds", SecondsText(sum.time)}, {"Usd", sum.cost.ToExactString()}};
}

json::object ToJson(const model::LedgerEntry& entry) {
  json::object out{{"Instance", entry.instance},
                   {"Kind", model::Name(entry.kind)},
                   {"InstanceType", entry.instance_type},
                   {"WaitedFrom", FormatIso8601(entry.waited_from)},
                   {"Start", FormatIso8601(entry.start)},
                   {"End", FormatIso8601(entry.end)},
                   {"UsdPerHour", entry.per_hour.ToExactString()},
                   {"Usd", cost::CostOfEntry(entry).ToExactString()},
                   {"PriceDate", entry.price_date}};
  if (entry.lost_from) out["LostFrom"] = FormatIso8601(*entry.lost_from);
  return out;
}

json::object Totals(const cost::JobCost& cost) {
  return {{"OnDemand", ToJson(cost.on_demand_use)},
          {"Spot", ToJson(cost.spot_use)},
          {"Waiting", ToJson(cost.waiting)},
          {"LostWork", ToJson(cost.lost)},
          {"WarmPool", ToJson(cost.warm_pool)}};
}

template <typename T>
json::array ListOf(const std::vector<T>& items) {
  json::array out;
  for (const T& item : items) out.push_back(ToJson(item));
  return out;
}

// One row of the table of days.
struct DayCost {
  cost::UsageSum on_demand, spot, warm_pool, lost, waiting;
  Money total;
};

void Add(cost::UsageSum& sum, Millis time, Money money) {
  sum.time += time;
  sum.cost += money;
}

// The part of a line that lies in the span.
void AddPart(const model::LedgerEntry& entry, const Span& span, DayCost& day) {
  using model::LedgerKind;
  const Money money = cost::CostWithin(entry, span.from, span.to);
  const Millis time = cost::TimeWithin(entry, span.from, span.to);
  const WallTime waited_from = std::clamp(span.from, entry.waited_from, entry.start);
  Add(day.waiting, std::clamp(span.to, waited_from, entry.start) - waited_from, Money());
  if (entry.kind == LedgerKind::kWaiting) return;
  Add(entry.kind == LedgerKind::kSpot       ? day.spot
      : entry.kind == LedgerKind::kOnDemand ? day.on_demand
                                            : day.warm_pool,
      time, money);
  day.total += money;
  if (!entry.lost_from) return;
  const WallTime lost_from = std::max(span.from, *entry.lost_from);
  Add(day.lost, cost::TimeWithin(entry, lost_from, std::max(span.to, lost_from)),
      cost::CostWithin(entry, lost_from, std::max(span.to, lost_from)));
}

json::object DayToJson(std::string_view date, const DayCost& day) {
  return {{"Date", date},
          {"OnDemand", ToJson(day.on_demand)},
          {"Spot", ToJson(day.spot)},
          {"WarmPool", ToJson(day.warm_pool)},
          {"LostWork", ToJson(day.lost)},
          {"Waiting", ToJson(day.waiting)},
          {"TotalUsd", day.total.ToExactString()}};
}

}  // namespace

AwsResult<json::object> DescribeJobCost(const UsageParts& parts, const wire::CallContext& context,
                                        const json::object& request) {
  const std::string name = GetString(request, "TrainingJobName");
  if (name.empty()) return wire::RefuseValidation("TrainingJobName must be given");
  ASSIGN_OR_RETURN(const model::TrainingJob job, Load(parts.resources, name));
  auto lines = parts.ledger.OfJob(job.uid);
  if (!lines) return Pass(lines.error());
  const auto cost = cost::CostOfJob(parts.prices, job, context.now, std::move(*lines));
  if (!cost)
    return wire::RefuseValidation("The cost of training job '{}' is not known: {}", name,
                                  cost.error().message);
  json::array notes;
  for (const std::string& note : cost->notes) notes.emplace_back(note);
  return json::object{
      {"TrainingJobName", name},
      {"Region", job.region},
      {"PriceRegion", cost->price_region},
      {"ManagedSpotTraining", job.IsSpot()},
      {"Final", cost->final},
      {"TrainingSeconds", cost->training.count()},
      {"BillableSeconds", cost->billable.count()},
      {"BilledUsd", cost->billed.dollars()},
      {"OnDemandUsd", cost->on_demand.dollars()},
      {"SavedUsd", cost->saved().dollars()},
      {"SavingPercent", cost->saving_percent()},
      {"TotalUsd", cost->total().ToExactString()},
      {"Totals", Totals(*cost)},
      {"Otherwise", json::object{{"OnDemandUsd", cost->otherwise_on_demand.ToExactString()},
                                 {"SpotUsd", cost->otherwise_spot.ToExactString()}}},
      {"Instances", ListOf(cost->instances)},
      {"Attempts", ListOf(cost->attempts)},
      {"Ledger", ListOf(cost->entries)},
      {"Notes", std::move(notes)}};
}

AwsResult<json::object> DescribeCosts(const UsageParts& parts, const wire::CallContext& context,
                                      const json::object& request) {
  constexpr std::int64_t kDaysMax = 400;
  const std::int64_t count = GetInt(request, "Days", 7);
  if (count < 1 || count > kDaysMax)
    return wire::RefuseValidation("Days is {}; it must be from 1 to {}", count, kDaysMax);
  const std::string tag = GetString(request, "TagKey");
  const auto today = std::chrono::floor<std::chrono::days>(context.now);
  const WallTime end = today + std::chrono::days(1);
  const WallTime start = end - std::chrono::days(count);
  const auto usage = ReadUsage(parts, {start, end}, context.now);
  if (!usage) return Pass(usage.error());
  json::array days;
  Money total;
  for (WallTime from = start; from < end; from += std::chrono::days(1)) {
    const Span span{from, from + std::chrono::days(1)};
    std::map<std::string, DayCost> by_tag;
    for (const model::LedgerEntry& entry : *usage) {
      if (entry.end <= span.from || entry.waited_from >= span.to) continue;
      AddPart(entry, span, by_tag[tag.empty() ? "" : cost::TagOf(entry, tag)]);
    }
    for (const auto& [value, day] : by_tag) {
      json::object row = DayToJson(FormatIso8601Seconds(from).substr(0, 10), day);
      if (!tag.empty()) row["Tag"] = value;
      days.push_back(std::move(row));
      total += day.total;
    }
  }
  return json::object{{"Start", FormatIso8601Seconds(start)},
                      {"End", FormatIso8601Seconds(end)},
                      {"Days", std::move(days)},
                      {"TotalUsd", total.ToExactString()}};
}

}  // namespace sabia::api
