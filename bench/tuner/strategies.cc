#include "strategies.h"

#include <map>
#include <sstream>

#include "base/check.h"
#include "tuner/bayesian.h"
#include "tuner/random_search.h"

namespace sabia::bench {
namespace {

using tuner::BayesianOptions;

void Apply(const std::string& name, double value, BayesianOptions& options) {
  const std::map<std::string, double*> numbers = {
      {"length_mean", &options.priors.length_mean},
      {"length_deviation", &options.priors.length_deviation},
      {"amplitude_deviation", &options.priors.amplitude_deviation},
      {"noise_mean", &options.priors.noise_mean},
      {"noise_deviation", &options.priors.noise_deviation},
      {"warp_deviation", &options.priors.warp_deviation},
      {"changed", &options.acquisition.changed_coordinates},
  };
  const std::map<std::string, int*> counts = {
      {"global", &options.acquisition.global_candidates},
      {"local", &options.acquisition.local_candidates},
      {"starts", &options.acquisition.starts},
      {"climbs", &options.acquisition.climbs},
  };
  if (numbers.contains(name)) {
    *numbers.at(name) = value;
  } else if (counts.contains(name)) {
    *counts.at(name) = static_cast<int>(value);
  } else if (name == "warped") {
    options.warped = value != 0;
  } else if (name == "transform") {
    options.transform = static_cast<tuner::TargetTransform>(value);
  } else {
    CHECK_MSG(name == "initial", "no setting '" + name + "'");
    options.initial_trials = static_cast<std::size_t>(value);
  }
}

BayesianOptions ReadSettings(const StrategyChoice& choice) {
  BayesianOptions options{.seed = choice.seed};
  std::istringstream in(choice.settings);
  for (std::string setting; std::getline(in, setting, ',');) {
    const std::size_t equals = setting.find('=');
    CHECK_MSG(equals != std::string::npos, setting);
    Apply(setting.substr(0, equals), std::stod(setting.substr(equals + 1)), options);
  }
  return options;
}

}  // namespace

std::unique_ptr<tuner::Strategy> MakeStrategy(const Problem& problem,
                                              const StrategyChoice& choice) {
  if (choice.name == "random" || choice.name == "sobol") {
    const auto draw = choice.name == "random" ? tuner::Draw::kIndependent : tuner::Draw::kSobol;
    return std::make_unique<tuner::RandomSearch>(
        problem.space(), tuner::RandomSearchOptions{.seed = choice.seed, .draw = draw});
  }
  CHECK_MSG(choice.name == "bayesian", "no strategy '" + choice.name + "'");
  return std::make_unique<tuner::Bayesian>(problem.space(), ReadSettings(choice));
}

}  // namespace sabia::bench
