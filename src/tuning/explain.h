// Why a tuning job went the way it went, definition by definition: `sabia tune explain`.
//
// For each trial why it was chosen and what a Gaussian process over all trials that have ended (and
// the parents') expects of its configuration; how much each hyperparameter matters; of what trials
// failed. The process is fitted whatever the strategy was. Pure; any thread. Time: milliseconds up
// to a few hundred trials, seconds with thousands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/explain.h"
#include "tuning/settings.h"
#include "tuning/tuning_snapshot.h"

namespace sabia::tuning {

struct TrialAccount {
  const model::TuningTrial* trial = nullptr;
  std::optional<tuner::Expectation> expectation;  // needs two trials with different objectives
};

struct FailureAccount {
  std::string failure;      // its cause (CauseOf)
  std::vector<int> trials;  // numbers, ascending
};

struct DefinitionAccount {
  const Definition* definition = nullptr;
  std::vector<TrialAccount> trials;            // by number
  std::vector<tuner::Importance> importances;  // descending; empty like the expectations
  std::vector<FailureAccount> failures;        // the most frequent first
  std::size_t without_metric = 0;              // ended without failing, but with no objective
};

// A FailureReason without the lines that differ from trial to trial: the command with its
// hyperparameters, and the log stream.
std::string CauseOf(std::string_view failure);

struct SearchRecord {
  const Settings& settings;
  std::int64_t seed = 0;
  const std::vector<TrialView>& trials;  // by number
  const std::vector<ParentView>& parents;
};
// In the order of the settings. Results point into the record.
std::vector<DefinitionAccount> Explain(const SearchRecord& record);

}  // namespace sabia::tuning
