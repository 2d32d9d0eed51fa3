// soak: runs simulated worlds, one seed after the other, until it is stopped or something is wrong.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>

#include "env/posix/posix_clock.h"
#include "sim/simulation.h"

namespace {

using sabia::sim::Outcome;
using sabia::sim::WorldPlan;

constexpr double kHoursPerYear = 24 * 365.25;
constexpr double kClusterInstances = 100;

struct Totals {
  std::uint64_t worlds = 0;
  Outcome sum;

  void Print(double seconds) const {
    const double years = sum.instance_hours / kHoursPerYear / kClusterInstances;
    fmt::print(
        "{} worlds, {} jobs, {} interruptions, {} reclaims by a market, {} moves, {} deadlines "
        "kept, {} deaths of the daemon, {} of agents, {} commits: "
        "{:.2f} years of 100 instances in {:.1f} s ({:.1f} years a minute)\n",
        worlds, sum.jobs, sum.interruptions, sum.market_reclaims, sum.moves, sum.deadlines_kept,
        sum.daemon_deaths, sum.agent_deaths, sum.commits, years, seconds, years / seconds * 60);
    std::fflush(stdout);
  }
};

// Whether all is well; the same plan twice must end in the same state.
bool RunOne(const WorldPlan& plan, bool twice, Totals& totals) {
  const Outcome outcome = sabia::sim::Simulate(plan);
  ++totals.worlds;
  totals.sum.Add(outcome);
  for (const std::string& violation : outcome.violations)
    fmt::print(stderr, "seed {}: {}\n", plan.seed, violation);
  if (!outcome.violations.empty()) {
    fmt::print(stderr, "{}\nAgain: soak --first {} --worlds 1\n", Describe(plan), plan.seed);
    return false;
  }
  if (twice && sabia::sim::Simulate(plan).digest != outcome.digest) {
    fmt::print(stderr, "seed {}: a second run ended differently\n", plan.seed);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs simulated clusters from seeds; exit 1 when one of them breaks a promise.");
  std::uint64_t first = 1;
  std::uint64_t worlds = 0;
  bool twice = false;
  int years = 0;
  app.add_option("--first", first, "First seed");
  app.add_option("--worlds", worlds, "How many seeds; 0: until stopped");
  app.add_flag("--twice", twice, "Run each twice and compare");
  app.add_option("--years", years,
                 "Instead: one cluster of 100 instances, all on spot and interrupted daily, for so "
                 "many years");
  CLI11_PARSE(app, argc, argv);
  sabia::env::PosixClock clock;
  const auto began = clock.Mono();
  const auto seconds = [&] { return std::chrono::duration<double>(clock.Mono() - began).count(); };
  Totals totals;
  if (years > 0) {
    constexpr int kInstances = 100;
    const sabia::Millis length(static_cast<std::int64_t>(years * kHoursPerYear * 3'600'000));
    const bool well =
        RunOne(sabia::sim::DailyInterruptions(first, kInstances, length), twice, totals);
    totals.Print(seconds());
    return well ? 0 : 1;
  }
  constexpr std::uint64_t kReportEvery = 1000;
  for (std::uint64_t seed = first; worlds == 0 || seed < first + worlds; ++seed) {
    if (!RunOne(sabia::sim::PlanOf(seed), twice, totals)) return 1;
    if (totals.worlds % kReportEvery == 0) totals.Print(seconds());
  }
  totals.Print(seconds());
  return 0;
}
