// How long spot capacity stays, and stays away: learned from the past of a market.
//
// A market's past is a series of spells, in turn with and without capacity. The hazard of a spell
// that has lasted for some time is the chance that it ends by the next look; it is kept per class
// of age, for old spells end more seldom than young ones. Spells whose end was not seen count with
// the time that they lasted (right-censored); a spell whose begin was not seen has no known age and
// is left out, unless there is nothing else. Recent spells count more.
//
// Few spells say little: hazards are drawn to a prior, first the level of each direction, then each
// class of age. The built-in prior (Weibull) has the order of magnitude that GPU zones of AWS
// showed in 2022; a daemon may learn its own from all of its zones.
//
// Pure values; any thread.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/time.h"
#include "spot/replay.h"

namespace sabia::spot {

struct Spell {
  bool available = false;
  Millis length{0};
  bool begin_seen = true;
  bool end_seen = true;
};

// The spells of a series of ticks; the last one has not ended.
std::vector<Spell> SpellsOf(std::span<const Tick> ticks, Millis tick);

inline constexpr std::size_t kAgeClasses = 17;

// Classes of age in looks: one each for the first looks, then ever wider ones up to days.
class Ages {
 public:
  explicit Ages(Millis look);
  std::size_t ClassOf(Millis age) const;
  Millis begin(std::size_t age_class) const { return begins_[age_class]; }
  Millis look() const { return look_; }

 private:
  Millis look_;
  std::array<Millis, kAgeClasses> begins_;
};

// A spell lasts longer than t with probability exp(-(t / scale)^shape).
struct Weibull {
  double shape = 1;
  double scale_hours = 1;

  // That it ends by `end`, when it lasted until `begin`.
  double Ends(Millis begin, Millis end) const;
};

struct Hazards {
  Ages ages;
  // The chance to end within a look, by class of age.
  std::array<double, kAgeClasses> ends_available{};
  std::array<double, kAgeClasses> ends_unavailable{};

  double Ends(bool available, std::size_t age_class) const {
    return (available ? ends_available : ends_unavailable)[age_class];
  }
};

struct LearnOptions {
  Weibull prior_available{.shape = 0.5, .scale_hours = 0.8};
  Weibull prior_unavailable{.shape = 0.4, .scale_hours = 0.4};
  double level_weight = 2;                        // imagined spells behind the prior's level
  double class_weight = 2;                        // and behind its shape, per class of age
  Millis half_life{std::chrono::hours(24 * 12)};  // a spell that long ago counts half
};

// `spells` end now; the market is looked at every `look`.
Hazards Learn(std::span<const Spell> spells, Millis look, const LearnOptions& options = {});

}  // namespace sabia::spot
