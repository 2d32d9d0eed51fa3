#include "spot/gang.h"

#include <algorithm>

#include "base/check.h"
#include "spot/sample.h"

namespace sabia::spot {
namespace {

// Spells that are too short for a launch, passed over in one search.
constexpr int kShortSpellsMax = 10'000;

class GangMarket final : public Market {
 public:
  explicit GangMarket(std::vector<GangPart> parts) : parts_(std::move(parts)) {
    CHECK(!parts_.empty());
  }

  MarketState At(WallTime time) const override {
    MarketState out{.instances = 1, .per_hour = Money()};
    for (const GangPart& part : parts_) {
      const MarketState state = part.market->At(time);
      if (state.instances < part.instances) out.instances = 0;
      out.per_hour += state.per_hour * part.instances;
    }
    return out;
  }

  std::optional<WallTime> NextChange(WallTime time) const override {
    const MarketState now = At(time);
    const WallTime horizon = time + kEventHorizon;
    for (WallTime at = time; at <= horizon;) {
      std::optional<WallTime> next;
      for (const GangPart& part : parts_) {
        const auto change = part.market->NextChange(at);
        if (change) next = std::min(next.value_or(*change), *change);
      }
      if (!next) return std::nullopt;
      if (At(*next) != now) return next;
      at = *next;
    }
    return std::nullopt;
  }

 private:
  std::vector<GangPart> parts_;
};

// When the capacity that is there at `time` goes; nothing: not by `until`.
std::optional<WallTime> GoneBy(const Market& gang, WallTime time, WallTime until) {
  while (time <= until) {
    if (gang.At(time).instances < 1) return time;
    const auto next = gang.NextChange(time);
    if (!next) return std::nullopt;
    time = *next;
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Market> MakeGangMarket(std::vector<GangPart> parts) {
  return std::make_shared<GangMarket>(std::move(parts));
}

bool CanLaunch(const Market& gang, WallTime now, Millis notice) {
  return !GoneBy(gang, now, now + notice);
}

std::optional<WallTime> NextLaunch(const Market& gang, WallTime from, Millis notice) {
  WallTime at = from;
  for (int tries = 0; tries < kShortSpellsMax && at <= from + kEventHorizon; ++tries) {
    const auto there = NextCapacity(gang, 1, at);
    if (!there) return std::nullopt;
    const auto gone = GoneBy(gang, *there, *there + notice);
    if (!gone) return there;
    at = *gone;
  }
  return std::nullopt;
}

Millis SpellAge(const Market& gang, WallTime now, Millis most) {
  const bool available = gang.At(now).instances >= 1;
  Millis age{0};
  for (Millis ago{1'000}; ago <= most; ago *= 2) {
    if ((gang.At(now - ago).instances >= 1) != available) break;
    age = ago;
  }
  return age;
}

std::vector<Spell> PastSpells(const Market& gang, const PastView& view) {
  const std::int64_t looks = std::min<std::int64_t>(view.history / view.look, kPastLooksMax);
  const Stretch stretch{view.now - view.look * looks, view.look,
                        static_cast<std::size_t>(looks) + 1};
  return SpellsOf(Sample(gang, 1, stretch), view.look);
}

}  // namespace sabia::spot
