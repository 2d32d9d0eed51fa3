// The market as a whole job sees it: all of its instances, or none.
//
// A gang's market is a market like any other whose one "instance" is the gang and whose price is
// that of all its instances. Pure; thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "spot/hazard.h"
#include "spot/market.h"

namespace sabia::spot {

struct GangPart {
  std::shared_ptr<const Market> market;  // of one instance type in one zone
  int instances = 1;
};
// REQUIRES: at least one part, all of the same zone.
std::shared_ptr<const Market> MakeGangMarket(std::vector<GangPart> parts);

// Whether the gang can be launched: its capacity is there, and nobody was told yet that it goes.
bool CanLaunch(const Market& gang, WallTime now, Millis notice);
// The first moment from `from` on at which it can; within kEventHorizon.
std::optional<WallTime> NextLaunch(const Market& gang, WallTime from, Millis notice);

// Since when capacity is as it is now, seen from looks that lie ever further apart, up to `most`.
Millis SpellAge(const Market& gang, WallTime now, Millis most);

struct PastView {
  WallTime now;
  Millis look{0};     // between two looks
  Millis history{0};  // so far back, but at most kPastLooksMax looks
};
inline constexpr std::int64_t kPastLooksMax = 20'000;
// What an observer has seen of the market until now: the spells, the last one not ended.
std::vector<Spell> PastSpells(const Market& gang, const PastView& view);

}  // namespace sabia::spot
