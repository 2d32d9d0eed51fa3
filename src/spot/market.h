// The spot market of one instance type in one zone: how much capacity is there, when does that
// change next, and at what price.
//
// A market is a fact of the (simulated or real) world's time and nothing else: asked twice about a
// moment it answers the same, in any order of questions, in any process, for the same seed. Nothing
// is stored; a daemon that starts again finds the market that it left.
//
// Pure values behind an interface; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "spot/trace.h"

namespace sabia::spot {

struct MarketState {
  int instances = 0;  // that can be had
  Money per_hour;     // of one instance

  bool operator==(const MarketState&) const = default;
};

class Market {
 public:
  virtual ~Market() = default;
  virtual MarketState At(WallTime time) const = 0;
  // The first moment after `time` at which the state differs; nothing: it never does.
  virtual std::optional<WallTime> NextChange(WallTime time) const = 0;
};

// A seed for the market of one type and zone: different ones are independent.
std::uint64_t MarketSeed(std::uint64_t seed, std::string_view instance_type, std::string_view zone);

// Capacity for everybody, always.
std::unique_ptr<Market> MakeSteadyMarket(Money per_hour);

struct PoissonTerms {
  Millis between_interruptions{0};  // mean time with capacity
  Millis until_return{0};           // mean time without
  std::uint64_t seed = 0;           // of MarketSeed()
  Money per_hour;
};
// Capacity goes for all instances at once, and comes back, after exponential times. Both means are
// a second to ten years, and neither is more than kPoissonRatioMax times the other.
inline constexpr std::int64_t kPoissonRatioMax = 100'000;
Result<std::unique_ptr<Market>> MakePoissonMarket(const PoissonTerms& terms);

enum class AfterEnd { kRepeat, kHold };
// The trace begins at `begin`. Repeated, it has always been going on; held, its first and last
// states last for ever.
std::unique_ptr<Market> MakeRecordedMarket(const CapacityTrace& trace, WallTime begin,
                                           AfterEnd after_end, Money per_hour);

// Capacity is there for those who pay at most `maximum`, while the price is not above it. The
// series begins at `begin`, or when it was recorded.
std::unique_ptr<Market> MakePriceMarket(const std::vector<PriceStep>& prices, Money maximum,
                                        std::optional<WallTime> begin, AfterEnd after_end);

struct Outage {
  WallTime from, until;  // [from, until)
};
// Capacity but for the outages; kInvalidArgument when one is empty or overlaps another. A market
// that obeys commands is one without outages; each command makes a new one, with one outage more.
Result<std::unique_ptr<Market>> MakeScheduledMarket(std::vector<Outage> outages, Money per_hour);

// What happens to running instances, as EC2 tells it: perhaps a recommendation to rebalance, the
// notice two minutes before the end, the end.
enum class EventKind { kRebalance, kNotice, kReclaim };
struct InstanceEvent {
  EventKind kind = EventKind::kReclaim;
  WallTime at;
  WallTime reclaim_at;
};
struct Lease {
  WallTime since;
  int instances = 1;  // a gang is reclaimed when not all of it can be had
};
struct EventOptions {
  Millis notice{std::chrono::minutes(2)};
  std::optional<Millis> rebalance_lead;  // nothing: no recommendations
};
// The first event of the lease after `after`. Instances younger than the notice learn of their end
// when they start. Nothing: none within kEventHorizon of `after`.
inline constexpr Millis kEventHorizon{std::chrono::hours(24 * 366)};
std::optional<InstanceEvent> NextEvent(const Market& market, const Lease& lease, WallTime after,
                                       const EventOptions& options = {});

// The first moment from `from` on at which so many instances can be had; within kEventHorizon.
std::optional<WallTime> NextCapacity(const Market& market, int instances, WallTime from);

}  // namespace sabia::spot
