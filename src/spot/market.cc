#include "spot/market.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "spot/noise.h"

namespace sabia::spot {
namespace {

constexpr Millis kMeanMin{1000};
constexpr Millis kMeanMax{std::chrono::hours(24 * 3660)};
constexpr int kEverybody = static_cast<int>(kInstancesMax);

struct MarketStep {
  Millis at{0};
  MarketState state;
};

// States that follow each other, once or for ever. The first step is at 0.
class StepMarket final : public Market {
 public:
  StepMarket(WallTime begin, std::vector<MarketStep> steps, std::optional<Millis> period)
      : begin_(begin), steps_(std::move(steps)), period_(period) {
    CHECK(!steps_.empty() && steps_.front().at == Millis(0));
  }

  MarketState At(WallTime time) const override { return steps_[IndexAt(Within(time))].state; }

  std::optional<WallTime> NextChange(WallTime time) const override {
    const Millis within = Within(time);
    const std::size_t now = IndexAt(within);
    for (std::size_t i = now + 1; i < steps_.size(); ++i) {
      if (steps_[i].state != steps_[now].state) return time + (steps_[i].at - within);
    }
    if (!period_) return std::nullopt;
    for (std::size_t i = 0; i < now; ++i) {
      if (steps_[i].state != steps_[now].state) return time + (*period_ - within + steps_[i].at);
    }
    return std::nullopt;
  }

 private:
  Millis Within(WallTime time) const {
    const Millis passed = time - begin_;
    if (!period_) return passed;
    const Millis rest = passed % *period_;
    return rest < Millis(0) ? rest + *period_ : rest;
  }
  std::size_t IndexAt(Millis within) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), within,
                         [](Millis t, const MarketStep& step) { return t < step.at; });
    return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  WallTime begin_;
  std::vector<MarketStep> steps_;
  std::optional<Millis> period_;
};

// A two-state Markov process by uniformisation: marks come at the sum of both rates, each draws the
// state anew, with the long-run share of capacity. Marks fall independently into blocks of time, so
// that any moment can be looked up without the past.
class PoissonMarket final : public Market {
 public:
  explicit PoissonMarket(const PoissonTerms& terms)
      : noise_(terms.seed), per_hour_(terms.per_hour) {
    const auto up = static_cast<double>(terms.between_interruptions.count());
    const auto down = static_cast<double>(terms.until_return.count());
    share_ = up / (up + down);
    mean_mark_ms_ = up * down / (up + down);
    block_ = Millis(std::max<std::int64_t>(std::llround(mean_mark_ms_ * kMarksPerBlock), 1));
  }

  MarketState At(WallTime time) const override {
    return {.instances = IsUp(time) ? kEverybody : 0, .per_hour = per_hour_};
  }

  std::optional<WallTime> NextChange(WallTime time) const override {
    const bool up = IsUp(time);
    for (std::int64_t block = BlockOf(time);; ++block) {
      for (const Mark& mark : MarksOf(block)) {
        if (mark.at > time && mark.up != up && IsLastOfItsMoment(block, mark)) return mark.at;
      }
    }
  }

 private:
  static constexpr double kMarksPerBlock = 16;
  struct Mark {
    WallTime at;
    bool up = false;
  };

  std::int64_t BlockOf(WallTime time) const {
    const std::int64_t ms = ToUnixMillis(time), size = block_.count();
    return ms >= 0 ? ms / size : -((-ms + size - 1) / size);
  }

  std::vector<Mark> MarksOf(std::int64_t block) const {
    std::vector<Mark> out;
    double at = 0;
    const auto stream = static_cast<std::uint64_t>(block);
    for (std::uint64_t i = 0;; i += 2) {
      at += noise_.Exponential(stream, i, mean_mark_ms_);
      if (at >= static_cast<double>(block_.count())) return out;
      const WallTime when = FromUnixMillis(block * block_.count() + static_cast<std::int64_t>(at));
      out.push_back({when, noise_.Uniform(stream, i + 1) < share_});
    }
  }

  // Of several marks within a millisecond the last one counts.
  bool IsLastOfItsMoment(std::int64_t block, const Mark& mark) const {
    bool up = mark.up;
    for (const Mark& other : MarksOf(block)) {
      if (other.at == mark.at) up = other.up;
    }
    return up == mark.up;
  }

  bool IsUp(WallTime time) const {
    for (std::int64_t block = BlockOf(time);; --block) {
      const std::vector<Mark> marks = MarksOf(block);
      for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
        if (mark->at <= time) return mark->up;
      }
    }
  }

  Noise noise_;
  Money per_hour_;
  double share_ = 1;
  double mean_mark_ms_ = 1;
  Millis block_{1};
};

Status CheckMean(std::string_view name, Millis mean) {
  if (mean >= kMeanMin && mean <= kMeanMax) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is {} s: 1 s to ten years", name,
              static_cast<double>(mean.count()) / 1000);
}

// The end of the lease: the first moment at which not all of it can be had.
std::optional<WallTime> ReclaimOf(const Market& market, const Lease& lease, WallTime until) {
  for (WallTime time = lease.since;;) {
    if (market.At(time).instances < lease.instances) return time;
    const auto next = market.NextChange(time);
    if (!next || *next > until) return std::nullopt;
    time = *next;
  }
}

}  // namespace

std::uint64_t MarketSeed(std::uint64_t seed, std::string_view instance_type,
                         std::string_view zone) {
  return HashText(HashText(seed, instance_type), zone);
}

std::unique_ptr<Market> MakeSteadyMarket(Money per_hour) {
  std::vector<MarketStep> steps{{.state = {.instances = kEverybody, .per_hour = per_hour}}};
  return std::make_unique<StepMarket>(WallTime{}, std::move(steps), std::nullopt);
}

Result<std::unique_ptr<Market>> MakePoissonMarket(const PoissonTerms& terms) {
  RETURN_IF_ERROR(CheckMean("the mean time between interruptions", terms.between_interruptions));
  RETURN_IF_ERROR(CheckMean("the mean time until capacity returns", terms.until_return));
  if (terms.between_interruptions > kPoissonRatioMax * terms.until_return ||
      terms.until_return > kPoissonRatioMax * terms.between_interruptions) {
    return Fail(ErrorCode::kInvalidArgument,
                "the mean times between interruptions and until capacity returns differ by more "
                "than {} times",
                kPoissonRatioMax);
  }
  return std::make_unique<PoissonMarket>(terms);
}

std::unique_ptr<Market> MakeRecordedMarket(const CapacityTrace& trace, WallTime begin,
                                           AfterEnd after_end, Money per_hour) {
  std::vector<MarketStep> steps;
  for (const CapacityStep& step : trace.steps) {
    steps.push_back({step.at, {.instances = step.instances, .per_hour = per_hour}});
  }
  std::optional<Millis> period;
  if (after_end == AfterEnd::kRepeat) period = trace.length;
  return std::make_unique<StepMarket>(begin, std::move(steps), period);
}

std::unique_ptr<Market> MakePriceMarket(const std::vector<PriceStep>& prices, Money maximum,
                                        std::optional<WallTime> begin, AfterEnd after_end) {
  CHECK(!prices.empty());
  std::vector<MarketStep> steps;
  for (const PriceStep& price : prices) {
    const int instances = price.per_hour <= maximum ? kEverybody : 0;
    const MarketStep step{price.at - prices.front().at,
                          {.instances = instances, .per_hour = price.per_hour}};
    if (!steps.empty() && steps.back().at == step.at) steps.pop_back();
    steps.push_back(step);
  }
  std::optional<Millis> period;
  if (after_end == AfterEnd::kRepeat && steps.size() > 1) period = steps.back().at;
  if (period) steps.pop_back();  // its moment is the first one's of the next round
  return std::make_unique<StepMarket>(begin.value_or(prices.front().at), std::move(steps), period);
}

Result<std::unique_ptr<Market>> MakeScheduledMarket(std::vector<Outage> outages, Money per_hour) {
  std::sort(outages.begin(), outages.end(),
            [](const Outage& a, const Outage& b) { return a.from < b.from; });
  const MarketState up{.instances = kEverybody, .per_hour = per_hour};
  const MarketState down{.instances = 0, .per_hour = per_hour};
  const WallTime begin = outages.empty() ? WallTime{} : outages.front().from - Millis(1);
  std::vector<MarketStep> steps{{Millis(0), up}};
  WallTime last = begin;
  for (const Outage& outage : outages) {
    if (outage.until <= outage.from || outage.from < last) {
      return Fail(ErrorCode::kInvalidArgument, "the outage from {} until {} {}",
                  FormatIso8601(outage.from), FormatIso8601(outage.until),
                  outage.until <= outage.from ? "is empty" : "overlaps the one before");
    }
    if (steps.back().at == outage.from - begin) steps.pop_back();  // it continues the one before
    steps.push_back({outage.from - begin, down});
    steps.push_back({outage.until - begin, up});
    last = outage.until;
  }
  return std::make_unique<StepMarket>(begin, std::move(steps), std::nullopt);
}

std::optional<InstanceEvent> NextEvent(const Market& market, const Lease& lease, WallTime after,
                                       const EventOptions& options) {
  const WallTime from = std::max(after, lease.since);
  const auto reclaim = ReclaimOf(market, lease, from + kEventHorizon);
  if (!reclaim) return std::nullopt;
  if (options.rebalance_lead) {
    const WallTime at = std::max(lease.since, *reclaim - *options.rebalance_lead);
    if (at > after) return InstanceEvent{EventKind::kRebalance, at, *reclaim};
  }
  const WallTime notice = std::max(lease.since, *reclaim - options.notice);
  if (notice > after) return InstanceEvent{EventKind::kNotice, notice, *reclaim};
  if (*reclaim > after) return InstanceEvent{EventKind::kReclaim, *reclaim, *reclaim};
  return std::nullopt;
}

std::optional<WallTime> NextCapacity(const Market& market, int instances, WallTime from) {
  for (WallTime time = from;;) {
    if (market.At(time).instances >= instances) return time;
    const auto next = market.NextChange(time);
    if (!next || *next > from + kEventHorizon) return std::nullopt;
    time = *next;
  }
}

}  // namespace sabia::spot
