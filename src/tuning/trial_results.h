// Results of trials: what became of training jobs that have ended, and what that makes of the
// tuning job. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "tuning/search.h"

namespace sabia::tuning {

// Takes the results of all training jobs that have ended, in the order in which they ended, into
// their trials, the counters, the best and the completion details. Nothing when none has.
// search: null when the request cannot be searched; only counters change then.
std::optional<TuningStep> RecordResults(const TuningSnapshot& seen, const Search* search);

// The first bytes of UTF-8 text, cut between characters.
std::string FirstBytes(std::string text, std::size_t limit);

}  // namespace sabia::tuning
