// Deadline policies on one recorded trace; bench/deadline.py drives it. Jobs of 48 hours with a
// changeover of 12 minutes start at random moments; spot costs a third of on demand. A job knows
// the trace before its start and nothing else. Prints a line of CSV per job and fraction:
//   trace,fraction,truth,start,greedy,up,oracle,planner,bound,late,longest_ms
// costs as shares of on demand's; `late` counts the policies that missed the deadline.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "spot/omniscient.h"
#include "spot/planner.h"
#include "spot/trace.h"

namespace {

using namespace sabia;
using namespace sabia::spot;

constexpr Millis kHour{3'600'000};
constexpr Millis kWork = 48 * kHour;
constexpr Millis kChangeover{12 * 60'000};

struct Arguments {
  std::string trace;
  int starts = 10;
  unsigned seed = 1;
  double history_hours = 120;  // known to every job at least
  std::vector<double> fractions{0.6, 0.7, 0.8, 0.9};
  double error = 0;  // of the estimate, at most
  double truth = 1;  // true work / estimated work
};

// Counts how long the longest decision took.
class Timed final : public Policy {
 public:
  explicit Timed(Policy& policy) : policy_(policy) {}
  Placement Decide(const Situation& now) override {
    const auto begin = std::chrono::steady_clock::now();
    const Placement placement = policy_.Decide(now);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    longest_ms = std::max(longest_ms, took.count());
    return placement;
  }
  double longest_ms = 0;

 private:
  Policy& policy_;
};

std::vector<Tick> TicksOf(const CapacityTrace& trace) {
  int gang = 0;
  for (const CapacityStep& step : trace.steps) gang = std::max(gang, step.instances);
  std::vector<Tick> out;
  for (Millis at{0}; at < trace.length; at += trace.gap) {
    out.push_back({trace.At(at) >= gang, Money::FromNanos(1'000'000'000)});
  }
  return out;
}

JobTerms TermsOf(const Arguments& arguments, double fraction, Millis look) {
  JobTerms terms{
      .work = kWork, .work_error = arguments.error, .changeover = kChangeover, .look = look};
  const double time = static_cast<double>(kWork.count()) / fraction;
  terms.time = Millis(std::llround(time)) / look * look;
  terms.spot_per_hour = Money::FromNanos(1'000'000'000);
  terms.on_demand_per_hour = Money::FromNanos(3'000'000'000);
  return terms;
}

void RunJob(const Arguments& arguments, const JobTerms& terms, std::span<const Tick> ticks,
            std::size_t start) {
  const auto count = static_cast<std::size_t>(terms.time / terms.look);
  const std::span<const Tick> ahead = ticks.subspan(start, count);
  const std::vector<Spell> past = SpellsOf(ticks.first(start), terms.look);
  Work work{.true_work =
                Millis(std::llround(static_cast<double>(kWork.count()) * arguments.truth))};
  const bool same = past.back().available == ahead[0].spot_available;
  work.spell_age = same ? past.back().length : Millis(0);
  const Money on_demand = CostOf(terms.on_demand_per_hour, work.true_work + kChangeover);

  Planner planner(terms, past);
  Timed timed(planner);
  const std::unique_ptr<Policy> baselines[] = {
      MakeGreedy(terms), MakeUniformProgress(terms, Foresight::kNone),
      MakeUniformProgress(terms, Foresight::kNextSpotLifetime)};
  int late = 0;
  const auto run = [&](Policy& policy) {
    const Outcome out = Replay(terms, work, ahead, policy);
    late += out.finished ? 0 : 1;
    std::printf(",%.6f", out.cost().dollars() / on_demand.dollars());
  };
  for (const auto& policy : baselines) run(*policy);
  run(timed);
  const auto bound = Omniscient(terms, work.true_work, ahead);
  std::printf(",%.6f,%d,%.1f\n", bound ? bound->cost.dollars() / on_demand.dollars() : NAN, late,
              timed.longest_ms);
}

int Run(const Arguments& arguments) {
  std::ifstream in(arguments.trace);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto trace = ParseAvailability(arguments.trace, text);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 1;
  }
  const std::vector<Tick> ticks = TicksOf(*trace);
  const std::string name = std::filesystem::path(arguments.trace).stem();
  const auto history =
      static_cast<std::size_t>(Millis(std::llround(arguments.history_hours * 3.6e6)) / trace->gap);
  for (const double fraction : arguments.fractions) {
    const JobTerms terms = TermsOf(arguments, fraction, trace->gap);
    const auto count = static_cast<std::size_t>(terms.time / terms.look);
    if (!Check(terms) || ticks.size() <= history + count) {
      std::fprintf(stderr, "%s: no job with fraction %.2f fits\n", name.c_str(), fraction);
      continue;
    }
    std::mt19937_64 random(arguments.seed);
    for (int i = 0; i < arguments.starts; ++i) {
      const std::size_t start = history + random() % (ticks.size() - history - count);
      std::printf("%s,%.2f,%.2f,%zu", name.c_str(), fraction, arguments.truth, start);
      RunJob(arguments, terms, ticks, start);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Deadline policies on a recorded trace"};
  app.add_option("trace", arguments.trace)->required();
  app.add_option("--starts", arguments.starts);
  app.add_option("--seed", arguments.seed);
  app.add_option("--history-hours", arguments.history_hours);
  app.add_option("--fractions", arguments.fractions)->delimiter(',');
  app.add_option("--error", arguments.error);
  app.add_option("--truth", arguments.truth);
  CLI11_PARSE(app, argc, argv);
  return Run(arguments);
}
