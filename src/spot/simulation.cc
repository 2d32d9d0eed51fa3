#include "spot/simulation.h"

#include <algorithm>

#include "spot/omniscient.h"
#include "spot/planner.h"
#include "spot/sample.h"

namespace sabia::spot {
namespace {

constexpr double kHoursPerMonth = 730.5;  // 365.25 days / 12
constexpr std::string_view kOnDemand = "on-demand";
constexpr std::string_view kOmniscient = "omniscient";

double Hours(Millis time) { return static_cast<double>(time.count()) / 3.6e6; }

// Spot as a planner expects it: the mean price of the times at which it could be had.
Money UsualPrice(const std::vector<Tick>& past, Money otherwise) {
  __int128 sum = 0;
  std::int64_t count = 0;
  for (const Tick& tick : past) {
    if (!tick.spot_available) continue;
    sum += tick.spot_per_hour.nanos();
    ++count;
  }
  return count == 0 ? otherwise : Money::FromNanos(static_cast<std::int64_t>(sum / count));
}

std::unique_ptr<Policy> MakePolicy(std::string_view name, const JobTerms& terms,
                                   const std::vector<Spell>& past) {
  if (name == "greedy") return MakeGreedy(terms);
  if (name == "uniform-progress") return MakeUniformProgress(terms, Foresight::kNone);
  if (name == "uniform-progress-oracle") {
    return MakeUniformProgress(terms, Foresight::kNextSpotLifetime);
  }
  if (name == "planner") return std::make_unique<Planner>(terms, past);
  return MakeOnDemandOnly();
}

void Add(PolicyReport& report, const Outcome& outcome, const std::string& month) {
  ++report.jobs;
  report.deadlines_missed += outcome.finished ? 0 : 1;
  report.reclaims += outcome.reclaims;
  report.starts += outcome.starts;
  report.spot_cost += outcome.spot_cost;
  report.on_demand_cost += outcome.on_demand_cost;
  report.changeover_cost += outcome.changeover_cost;
  report.lost_work_cost += outcome.lost_work_cost;
  report.spot_time += outcome.spot_time;
  report.on_demand_time += outcome.on_demand_time;
  report.waiting_time += outcome.waiting_time;
  report.lost_work += outcome.lost_work;
  report.changeover_time += outcome.changeover_time;
  report.months[month] += outcome.cost();
}

// The market around one job: what was before it came, and what it lives through.
struct Around {
  std::vector<Tick> past, ahead;
  std::vector<Spell> spells;
};

Around Look(const Simulation& simulation, const SimulatedJob& job) {
  const Millis tick = job.terms.look;
  const auto before = static_cast<std::size_t>(simulation.history / tick);
  const auto after = static_cast<std::size_t>((job.terms.time + tick - Millis(1)) / tick);
  const WallTime begin = job.arrival - tick * static_cast<std::int64_t>(before);
  Around out;
  out.past = Sample(*job.market, job.instances, {.begin = begin, .tick = tick, .ticks = before});
  out.ahead =
      Sample(*job.market, job.instances, {.begin = job.arrival, .tick = tick, .ticks = after});
  out.spells = SpellsOf(out.past, tick);
  return out;
}

void LiveThrough(const Simulation& simulation, const SimulatedJob& job,
                 std::vector<PolicyReport>& reports) {
  const Around around = Look(simulation, job);
  JobTerms terms = job.terms;
  terms.spot_per_hour = UsualPrice(around.past, terms.spot_per_hour);
  Work work = job.work;
  const bool same = !around.spells.empty() &&
                    around.spells.back().available == around.ahead.front().spot_available;
  work.spell_age = same ? around.spells.back().length : Millis(0);
  const std::string month = FormatIso8601(job.arrival).substr(0, 7);
  for (PolicyReport& report : reports) {
    Outcome outcome;
    if (report.policy == kOmniscient) {
      // Parsing made sure that the deadline can be met.
      const auto bound = Omniscient(terms, work.true_work, around.ahead);
      outcome.finished = bound.has_value();
      outcome.spot_cost = bound ? bound->cost : Money();
    } else {
      outcome = Replay(terms, work, around.ahead, *MakePolicy(report.policy, terms, around.spells));
    }
    Add(report, outcome, month);
  }
}

json::object ToJson(const PolicyReport& report, const PolicyReport& on_demand, double months) {
  const double base = on_demand.cost().dollars();
  json::object out{{"Policy", report.policy},
                   {"CostUsd", report.cost().dollars()},
                   {"CostUsdPerMonth", report.cost().dollars() / months},
                   {"SavingPercent", base > 0 ? 100 * (1 - report.cost().dollars() / base) : 0},
                   {"DeadlinesMissed", report.deadlines_missed}};
  json::object by_month;
  for (const auto& [month, cost] : report.months) by_month[month] = cost.dollars();
  out["CostUsdByMonth"] = std::move(by_month);
  if (report.policy == kOmniscient) return out;
  out["SpotUsd"] = report.spot_cost.dollars();
  out["OnDemandUsd"] = report.on_demand_cost.dollars();
  out["ChangeoverUsd"] = report.changeover_cost.dollars();
  out["LostWorkUsd"] = report.lost_work_cost.dollars();
  out["SpotHours"] = Hours(report.spot_time);
  out["OnDemandHours"] = Hours(report.on_demand_time);
  out["WaitingHours"] = Hours(report.waiting_time);
  out["ChangeoverHours"] = Hours(report.changeover_time);
  out["LostWorkHours"] = Hours(report.lost_work);
  out["Reclaims"] = report.reclaims;
  out["Starts"] = report.starts;
  return out;
}

}  // namespace

std::vector<PolicyReport> RunSimulation(const Simulation& simulation) {
  std::vector<PolicyReport> reports(1);
  reports[0].policy = kOnDemand;
  for (const std::string& policy : simulation.policies) {
    if (policy != kOnDemand) reports.push_back({.policy = policy});
  }
  for (const SimulatedJob& job : simulation.jobs) LiveThrough(simulation, job, reports);
  return reports;
}

json::object ToJson(const Simulation& simulation, const std::vector<PolicyReport>& reports) {
  const double months = std::max(Hours(simulation.span) / kHoursPerMonth, 1e-9);
  json::array policies;
  for (const PolicyReport& report : reports) {
    policies.push_back(ToJson(report, reports.front(), months));
  }
  json::array notes;
  for (const std::string& note : simulation.notes) notes.emplace_back(note);
  return {{"Jobs", simulation.jobs.size()},
          {"Months", months},
          {"Policies", std::move(policies)},
          {"Notes", std::move(notes)}};
}

}  // namespace sabia::spot
