#include "api/job_costs.h"

#include "api/training_jobs.h"
#include "cost/job_cost.h"
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
                   {"BilledUsd", attempt.billed.dollars()}};
  if (!attempt.end_reason.empty()) out["EndReason"] = attempt.end_reason;
  return out;
}

}  // namespace

AwsResult<json::object> DescribeJobCost(store::Resources& resources, const cost::PriceBook& prices,
                                        const wire::CallContext& context,
                                        const json::object& request) {
  const std::string name = GetString(request, "TrainingJobName");
  if (name.empty()) return wire::RefuseValidation("TrainingJobName must be given");
  ASSIGN_OR_RETURN(const model::TrainingJob job, Load(resources, name));
  const auto cost = cost::CostOfJob(prices, job, context.now);
  if (!cost)
    return wire::RefuseValidation("The cost of training job '{}' is not known: {}", name,
                                  cost.error().message);
  json::array instances, attempts, notes;
  for (const cost::InstanceCost& instance : cost->instances) instances.push_back(ToJson(instance));
  for (const cost::AttemptCost& attempt : cost->attempts) attempts.push_back(ToJson(attempt));
  for (const std::string& note : cost->notes) notes.emplace_back(note);
  return json::object{{"TrainingJobName", name},
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
                      {"Instances", std::move(instances)},
                      {"Attempts", std::move(attempts)},
                      {"Notes", std::move(notes)}};
}

}  // namespace sabia::api
