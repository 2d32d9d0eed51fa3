// Runs a world from its plan: first its busy part with all its troubles, then peace until every job
// has ended.
//
// Users, the market, machines, the disk and the daemon's deaths are simulated, on a clock that
// jumps from one event to the next; the controller, its planner and the capacity are the
// production code. The world keeps the books that the daemon cannot see: what a program really
// did, and when its agent lived. One thread, no real time, no real files: the same plan ends in the
// same digest.
//
// Cost: some tens of microseconds per commit; memory grows with the jobs that live at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/world_plan.h"

namespace sabia::sim {

// Of one world, or of several together.
struct Outcome {
  std::uint64_t digest = 0;  // of every commit
  std::uint64_t commits = 0;
  std::uint64_t jobs = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t stopped = 0;
  std::uint64_t interruptions = 0;
  std::uint64_t agent_deaths = 0;
  std::uint64_t daemon_deaths = 0;
  std::uint64_t failed_effects = 0;
  std::uint64_t market_reclaims = 0;
  std::uint64_t moves = 0;              // between spot and on demand
  std::uint64_t deadlines_kept = 0;     // of jobs that nothing kept from it
  std::uint64_t pools = 0;              // that jobs left
  std::uint64_t reuses = 0;             // of them
  Millis length{0};                     // simulated, with the peace at the end
  double instance_hours = 0;            // the machine's instances, leased or not
  std::vector<std::string> violations;  // none in a world as it should be

  // Counts and hours of another world; not its digest, length and violations.
  void Add(const Outcome& other);
};

Outcome Simulate(const WorldPlan& plan);

}  // namespace sabia::sim
