// What every search strategy is: history in, next configuration out.
//
// A suggestion is a function of the space, the options (with the seed) and the trials alone: a
// strategy made anew suggests what the old one would have suggested, so a killed daemon changes
// nothing. What a strategy remembers between calls only saves time. Trials come in the order in
// which they finished, and the list of a call starts with the list of the call before; any other
// list is right, but slower.
//
// Threading: thread-compatible; a call may take as long as strategies' headers say.  Errors: none;
// what cannot be searched is refused when the strategy is made. Not here: creating and watching
// jobs; when to stop (early_stopping.h, completion.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/space.h"

namespace sabia::tuner {

enum class Goal { kMinimize, kMaximize };

enum class Outcome {
  kCompleted,
  kStopped,  // early, by a rule or a user; a metric that it emitted counts
  kFailed,
};

// The objective at a step of training. The resource is what Hyperband rations: epochs, rounds.
struct Measurement {
  std::int64_t resource = 0;
  double value = 0;
};

struct Trial {
  std::int64_t number = 0;  // of creation, from 0
  Configuration values;
  Outcome outcome = Outcome::kCompleted;
  std::optional<double> objective;  // nothing: failed, or emitted no metric; NaN and infinity too
  double seconds = 0;               // of training; 0: unknown
  std::vector<Measurement> curve;   // ascending resources
  std::string failure;              // why, in the caller's words
  std::optional<std::int64_t> resource;   // as suggested
  std::optional<std::int64_t> continues;  // as suggested
};

struct Trials {
  std::span<const Trial> finished;
  std::span<const Trial> pending;

  std::size_t size() const { return finished.size() + pending.size(); }
};

struct Suggestion {
  Configuration values;
  std::string reason;                     // one line, for people
  std::optional<std::int64_t> resource;   // train up to here (Hyperband, ASHA with pauses)
  std::optional<std::int64_t> continues;  // the trial whose checkpoint to go on from
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Nothing when the space is exhausted, or when nothing can be said before a pending trial ends.
  virtual std::optional<Suggestion> Suggest(const Trials& trials) = 0;
};

// The objective turned so that less is better; nothing when the trial has none that is finite.
std::optional<double> Loss(const Trial& trial, Goal goal);

}  // namespace sabia::tuner
