// The tuner's side of the benchmark: describes problems, evaluates configurations for the peers,
// and runs our strategies. bench/tuner.py drives it.
//
//   tuner_bench describe PROBLEM                 the space, the best and the median, as JSON
//   tuner_bench evaluate PROBLEM                 a JSON array of texts a line in, a value a line
//   out tuner_bench run PROBLEM --strategy bayesian --seeds 20 --trials 100 --batch 1 --initial
//   FILE
//   tuner_bench curves TABLE --strategy asha --seeds 20 --epochs 5200
//       FILE: line s is a JSON array of the configurations that every tuner starts with under seed
//       s
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>

#include "base/check.h"
#include "base/json.h"
#include "curves.h"
#include "problem.h"
#include "strategies.h"

namespace sabia::bench {
namespace {

using tuner::Configuration;
using tuner::Trial;

Configuration ReadConfiguration(const json::value& value) {
  Configuration values;
  for (const json::value& text : value.as_array()) values.emplace_back(View(text.as_string()));
  return values;
}

json::value ReadLine(const std::string& line) {
  auto value = ParseJson(line);
  CHECK_MSG(value.has_value(), value.error().message);
  return *value;
}

void Describe(const Problem& problem) {
  json::array parameters;
  for (const tuner::ParameterRange& range : problem.ranges()) {
    parameters.push_back(
        json::object{{"name", range.name},
                     {"kind", Name(range.kind)},
                     {"min", range.min},
                     {"max", range.max},
                     {"log", range.scaling == tuner::Scaling::kLogarithmic},
                     {"values", json::array(range.values.begin(), range.values.end())}});
  }
  std::cout << json::serialize(json::object{{"parameters", parameters},
                                            {"best", problem.best()},
                                            {"median", problem.median()}})
            << '\n';
}

void Evaluate(const Problem& problem) {
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%.17g\n", problem.Evaluate(ReadConfiguration(ReadLine(line))));
    std::fflush(stdout);
  }
}

struct RunOptions {
  std::string strategy = "bayesian";
  std::string settings;
  int seeds = 20;
  int first_seed = 0;
  std::size_t trials = 100;
  std::size_t batch = 1;
  std::string initial;
};

struct Run {
  std::vector<double> values;
  double seconds = 0;  // inside Suggest
  double worst = 0;    // the longest call
  double last = 0;     // the latest
};

std::vector<Configuration> InitialOf(const std::string& path, int seed) {
  std::vector<Configuration> initial;
  if (path.empty()) return initial;
  std::ifstream in(path);
  std::string line;
  for (int i = 0; i <= seed; ++i) CHECK_MSG(bool(std::getline(in, line)), path);
  const json::value points = ReadLine(line);
  for (const json::value& point : points.as_array()) initial.push_back(ReadConfiguration(point));
  return initial;
}

// As many trials at once as the batch says; whenever one ends, the next begins.
Run RunOnce(const Problem& problem, const RunOptions& options, int seed) {
  const auto strategy =
      MakeStrategy(problem, {options.strategy, options.settings, static_cast<std::uint64_t>(seed)});
  std::vector<Configuration> initial = InitialOf(options.initial, seed);
  std::vector<Trial> finished;
  std::deque<Trial> pending;
  Run run;
  std::size_t created = 0;
  while (run.values.size() < options.trials) {
    while (pending.size() < options.batch && created < options.trials) {
      Trial trial{.number = static_cast<std::int64_t>(created)};
      if (created < initial.size()) {
        trial.values = initial[created];
      } else {
        const std::vector<Trial> waiting(pending.begin(), pending.end());
        const auto start = std::chrono::steady_clock::now();
        auto suggestion = strategy->Suggest({finished, waiting});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        run.seconds += took.count();
        run.worst = std::max(run.worst, took.count());
        run.last = took.count();
        CHECK(suggestion.has_value());
        trial.values = std::move(suggestion->values);
      }
      pending.push_back(std::move(trial));
      ++created;
    }
    pending.front().objective = problem.Evaluate(pending.front().values);
    run.values.push_back(*pending.front().objective);
    finished.push_back(std::move(pending.front()));
    pending.pop_front();
  }
  return run;
}

void RunAll(const Problem& problem, const std::string& name, const RunOptions& options) {
  for (int seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    const Run run = RunOnce(problem, options, seed);
    const std::string label =
        options.settings.empty() ? options.strategy : options.strategy + " " + options.settings;
    std::cout << json::serialize(json::object{{"problem", name},
                                              {"tuner", label},
                                              {"seed", seed},
                                              {"batch", options.batch},
                                              {"seconds", run.seconds},
                                              {"worst", run.worst},
                                              {"last", run.last},
                                              {"values", json::value_from(run.values)}})
              << std::endl;
  }
}

void RunAllCurves(const std::string& path, const RunOptions& options, std::int64_t epochs) {
  for (int seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    const auto line = RunCurves(
        path,
        {.strategy = options.strategy, .seed = static_cast<std::uint64_t>(seed), .epochs = epochs});
    CHECK_MSG(line.has_value(), line.error().message);
    std::cout << *line << std::endl;
  }
}

int Main(int argc, char** argv) {
  CLI::App app("the tuner's benchmark");
  app.require_subcommand(1);
  std::string name;
  RunOptions options;
  CLI::App* describe = app.add_subcommand("describe");
  CLI::App* evaluate = app.add_subcommand("evaluate");
  CLI::App* run = app.add_subcommand("run");
  CLI::App* curves = app.add_subcommand("curves");
  std::int64_t epochs = 5200;
  curves->add_option("--epochs", epochs);
  curves->add_option("--strategy", options.strategy);
  curves->add_option("--seeds", options.seeds);
  for (CLI::App* command : {describe, evaluate, run, curves}) {
    command->add_option("problem", name)->required();
  }
  run->add_option("--strategy", options.strategy);
  run->add_option("--settings", options.settings, "NAME=VALUE,... of the Bayesian strategy");
  run->add_option("--seeds", options.seeds);
  run->add_option("--first-seed", options.first_seed);
  run->add_option("--trials", options.trials);
  run->add_option("--batch", options.batch);
  run->add_option("--initial", options.initial);
  CLI11_PARSE(app, argc, argv);
  if (curves->parsed()) {
    RunAllCurves(name, options, epochs);
    return 0;
  }
  const auto problem = OpenProblem(name);
  if (!problem) {
    std::cerr << problem.error().message << '\n';
    return 1;
  }
  if (describe->parsed()) Describe(**problem);
  if (evaluate->parsed()) Evaluate(**problem);
  if (run->parsed()) RunAll(**problem, name, options);
  return 0;
}

}  // namespace
}  // namespace sabia::bench

int main(int argc, char** argv) { return sabia::bench::Main(argc, argv); }
