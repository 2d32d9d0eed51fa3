#include "cost/job_cost.h"

#include <algorithm>

namespace sabia::cost {
namespace {

std::vector<std::pair<std::string, int>> InstancesOf(const model::TrainingJob& job) {
  std::vector<std::pair<std::string, int>> out;
  const json::object* resources = FindObject(job.request, "ResourceConfig");
  if (resources == nullptr) return out;
  const json::array* groups = FindArray(*resources, "InstanceGroups");
  if (groups != nullptr && !groups->empty()) {
    for (const json::value& group : *groups) {
      if (!group.is_object()) continue;
      out.emplace_back(GetString(group.get_object(), "InstanceType"),
                       static_cast<int>(GetInt(group.get_object(), "InstanceCount")));
    }
  } else {
    out.emplace_back(GetString(*resources, "InstanceType"), job.InstanceCount());
  }
  return out;
}

std::string PriceRegion(const PriceBook& book, const std::string& region) {
  return book.HasRegion(region) ? region : std::string(kFallbackRegion);
}

// One hour of all instances of the job.
Money PerHour(const JobCost& cost, bool spot) {
  Money sum;
  for (const InstanceCost& instance : cost.instances) {
    const Money rate = spot ? instance.price.SpotPerHour() : instance.price.on_demand_per_hour;
    sum += rate * instance.count;
  }
  return sum;
}

void AddAttempts(const model::TrainingJob& job, WallTime now, JobCost& cost) {
  for (const model::Attempt& attempt : job.attempts) {
    AttemptCost one{attempt.number, attempt.spot, Millis(0), attempt.end_reason, Money()};
    if (attempt.ready) {
      one.billable = std::max(Millis(0), attempt.ended.value_or(now) - *attempt.ready);
    }
    one.billed = CostOf(attempt.per_hour.value_or(PerHour(cost, attempt.spot)), one.billable);
    cost.billed += one.billed;
    cost.on_demand += CostOf(PerHour(cost, false), one.billable);
    cost.attempts.push_back(std::move(one));
  }
}

}  // namespace

double JobCost::saving_percent() const {
  if (on_demand.nanos() == 0) return 0;
  return 100.0 * static_cast<double>(saved().nanos()) / static_cast<double>(on_demand.nanos());
}

Result<JobCost> CostOfJob(const PriceBook& book, const model::TrainingJob& job, WallTime now) {
  JobCost cost;
  cost.price_region = PriceRegion(book, job.region);
  if (cost.price_region != job.region) {
    cost.notes.push_back(fmt::format("no prices are known for {}: those of {} are used", job.region,
                                     cost.price_region));
  }
  for (const auto& [type, count] : InstancesOf(job)) {
    const Price* price = book.Find(cost.price_region, type);
    if (price == nullptr) {
      return Fail(ErrorCode::kNotFound, "no price of {} in {} is known", type, cost.price_region);
    }
    if (job.IsSpot() && !price->spot_saving_percent) {
      cost.notes.push_back(fmt::format(
          "no spot price of {} in {} is known: on-demand rates are used", type, cost.price_region));
    }
    cost.instances.push_back({type, count, *price});
  }
  AddAttempts(job, now, cost);
  cost.training = model::TrainingTime(job, now).value_or(Seconds(0));
  cost.billable = model::BillableTime(job, now).value_or(Seconds(0));
  cost.final = model::IsTerminal(job.phase);
  return cost;
}

}  // namespace sabia::cost
