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

json::object ToJson(const cost::Usage& sum) {
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

json::object ToJson(const cost::UsageByKind& use) {
  return {{"OnDemand", ToJson(use.on_demand)},
          {"Spot", ToJson(use.spot)},
          {"WarmPool", ToJson(use.warm_pool)},
          {"LostWork", ToJson(use.lost)},
          {"Waiting", ToJson(use.waiting)}};
}

template <typename T>
json::array ListOf(const std::vector<T>& items) {
  json::array out;
  for (const T& item : items) out.push_back(ToJson(item));
  return out;
}

}  // namespace

AwsResult<json::object> DescribeJobCost(const UsageParts& parts, const wire::CallContext& context,
                                        const json::object& request) {
  const std::string name = GetString(request, "TrainingJobName");
  if (name.empty()) return wire::RefuseValidation("TrainingJobName must be given");
  ASSIGN_OR_RETURN(const store::Resource row, FindTrainingJob(parts.resources, name));
  ASSIGN_OR_RETURN(const model::TrainingJob job, DecodeTrainingJob(row));
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
      {"Totals", ToJson(cost->use)},
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
    const cost::Period day{from, from + std::chrono::days(1)};
    std::map<std::string, cost::UsageByKind> by_tag;
    for (const model::LedgerEntry& entry : *usage) {
      if (entry.end <= day.from || entry.waited_from >= day.to) continue;
      by_tag[tag.empty() ? "" : cost::TagOf(entry, tag)].Add(entry, day);
    }
    for (const auto& [value, use] : by_tag) {
      json::object row = ToJson(use);
      row["Date"] = FormatIso8601Seconds(from).substr(0, 10);
      row["TotalUsd"] = use.total().ToExactString();
      if (!tag.empty()) row["Tag"] = value;
      days.push_back(std::move(row));
      total += use.total();
    }
  }
  return json::object{{"Start", FormatIso8601Seconds(start)},
                      {"End", FormatIso8601Seconds(end)},
                      {"Days", std::move(days)},
                      {"TotalUsd", total.ToExactString()}};
}

}  // namespace sabia::api
