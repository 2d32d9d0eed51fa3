// What a workload would cost under a market, deadlines and policies: the engine of `sabia
// simulate`.
//
// A document (docs/semantics/simulate.md) says which jobs come when, what they need, how the spot
// market of each instance type and zone behaves, and which policies to compare. Every job is lived
// through under every policy on the very same market. Jobs do not compete with each other.
//
// Pure: files and prices come from the caller; the same document gives the same report. Errors are
// kInvalidArgument and name the member, or the file and its line.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spot/market_config.h"
#include "spot/replay.h"

namespace sabia::spot {

inline constexpr std::size_t kSimulatedJobsMax = 100'000;
inline constexpr std::int64_t kSimulatedTicksMax = 1'000'000'000;  // of all jobs together

struct InstancePrices {
  Money on_demand_per_hour;
  Money spot_per_hour;
};
// Nothing: the type is not known in that region.
using PriceLookup = std::function<std::optional<InstancePrices>(const std::string& region,
                                                                const std::string& type)>;

struct SimulatedJob {
  std::string name;
  WallTime arrival;
  std::shared_ptr<const Market> market;
  int instances = 1;
  JobTerms terms;
  Work work;
};

struct Simulation {
  Millis history{0};  // of its market, that a planner has seen when a job arrives
  std::vector<std::string> policies;
  std::vector<SimulatedJob> jobs;
  std::vector<std::string> notes;
  Millis span{0};  // from the first arrival to the last deadline
};

Result<Simulation> ParseSimulation(std::string_view text, const ReadFile& read,
                                   const PriceLookup& prices);

struct PolicyReport {
  std::string policy;
  int jobs = 0;
  int deadlines_missed = 0;
  int reclaims = 0;
  int starts = 0;
  Money spot_cost, on_demand_cost, changeover_cost, lost_work_cost;  // the last two are parts
  Millis spot_time{0}, on_demand_time{0}, waiting_time{0};           // hours of jobs
  Millis lost_work{0}, changeover_time{0};
  std::map<std::string, Money> months;  // by month of arrival, "2026-01"

  Money cost() const { return spot_cost + on_demand_cost; }
};

// One report per policy, in the document's order, the first one "on-demand", which all are measured
// against. The omniscient bound has a cost only; it is spot's and on demand's together.
std::vector<PolicyReport> RunSimulation(const Simulation& simulation);

// The reports as JSON: {"Policies": [...], "Notes": [...], "Jobs": n, "Months": m}.
json::object ToJson(const Simulation& simulation, const std::vector<PolicyReport>& reports);

}  // namespace sabia::spot
