// The referee: the least that a job can cost on a stretch of a market if the future is known.
//
// An exact dynamic programme over tick, placement with the rest of its changeover, and slack (time
// left beyond the work left), in units of the greatest common divisor of look, changeover, work and
// time. Where that would need more than kOmniscientCellsMax states the unit is made coarser and
// everything rounded in the job's favour, down to kRoundedCellsMax: the answer is a lower bound.
// Work lost by reclaims is ignored (it would be saved in time by who knows them). With ticks of T
// per job, slack of S and c = changeover / look: T * S * c operations, S * c memory.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "spot/replay.h"

namespace sabia::spot {

inline constexpr std::int64_t kOmniscientCellsMax = 120'000'000;
inline constexpr std::int64_t kRoundedCellsMax = 4'000'000;

struct Bound {
  Money cost;
  bool exact = true;
};

// kInvalidArgument when not even on demand meets the deadline. `true_work` stands in for
// terms.work.
Result<Bound> Omniscient(const JobTerms& terms, Millis true_work, std::span<const Tick> ticks);

}  // namespace sabia::spot
