#include "spot/replay.h"

#include <algorithm>

#include "base/check.h"

namespace sabia::spot {
namespace {

class Run {
 public:
  Run(const JobTerms& terms, const Work& work, std::span<const Tick> ticks, Policy& policy)
      : terms_(terms), work_(work), ticks_(ticks), policy_(policy) {
    now_.time_left = terms.time;
    now_.spell_age = work.spell_age;
    now_.spot_available = ticks.front().spot_available;
  }

  Outcome ToEnd() {
    const auto last =
        static_cast<std::size_t>((terms_.time + terms_.look - Millis(1)) / terms_.look);
    CHECK(ticks_.size() >= last);
    for (std::size_t i = 0; i < last && !out_.finished; ++i) {
      Look(i);
      Enter(policy_.Decide(now_));
      Live(std::min(terms_.look, now_.time_left), ticks_[i]);
    }
    const bool in_time = out_.finished;
    if (!in_time) {  // late
      Enter(Placement::kOnDemand);
      Live(terms_.changeover + work_.true_work + Millis(1), ticks_[last - 1]);
    }
    out_.finished = in_time;
    return out_;
  }

 private:
  void Look(std::size_t i) {
    const bool available = ticks_[i].spot_available;
    if (available != now_.spot_available) now_.spell_age = Millis(0);
    now_.spot_available = available;
    if (!available && now_.placement == Placement::kSpot) Reclaim();
    if (policy_.SeesTheFuture() && available) now_.spot_lifetime = Lifetime(i);
  }

  Millis Lifetime(std::size_t i) const {
    std::size_t end = i;
    while (end < ticks_.size() && ticks_[end].spot_available) ++end;
    return terms_.look * static_cast<std::int64_t>(end - i);
  }

  void Reclaim() {
    ++out_.reclaims;
    now_.placement = Placement::kIdle;
    now_.changeover_left = Millis(0);
    if (work_.checkpoint_interval <= Millis(0)) return;
    const Millis lost =
        now_.work_done -
        std::max(saved_, now_.work_done - now_.work_done % work_.checkpoint_interval);
    now_.work_done -= lost;
    out_.lost_work += lost;
    out_.lost_work_cost += CostOf(price_, lost);
  }

  void Enter(Placement placement) {
    CHECK(placement != Placement::kSpot || now_.spot_available);
    if (placement == now_.placement) return;
    saved_ = now_.work_done;  // who leaves on purpose saves first
    now_.placement = placement;
    now_.changeover_left = placement == Placement::kIdle ? Millis(0) : terms_.changeover;
    if (placement != Placement::kIdle) ++out_.starts;
  }

  void Live(Millis duration, const Tick& tick) {
    const bool idle = now_.placement == Placement::kIdle;
    const Millis left = now_.changeover_left + work_.true_work - now_.work_done;
    const Millis used = idle ? duration : std::min(duration, left);
    const Millis changeover = std::min(now_.changeover_left, used);
    price_ = now_.placement == Placement::kSpot ? tick.spot_per_hour : terms_.on_demand_per_hour;
    Pay(used, changeover);
    out_.took += used;
    now_.time_left -= used;
    now_.spell_age += used;
    if (idle) return;
    now_.changeover_left -= changeover;
    now_.work_done += used - changeover;
    out_.finished = now_.work_done >= work_.true_work;
  }

  void Pay(Millis used, Millis changeover) {
    if (now_.placement == Placement::kIdle) {
      out_.waiting_time += used;
      return;
    }
    const bool spot = now_.placement == Placement::kSpot;
    (spot ? out_.spot_time : out_.on_demand_time) += used;
    (spot ? out_.spot_cost : out_.on_demand_cost) += CostOf(price_, used);
    out_.changeover_time += changeover;
    out_.changeover_cost += CostOf(price_, changeover);
  }

  const JobTerms& terms_;
  const Work& work_;
  std::span<const Tick> ticks_;
  Policy& policy_;
  Situation now_;
  Money price_;      // of the placement in the last tick
  Millis saved_{0};  // work that was saved when a placement was left on purpose
  Outcome out_;
};

}  // namespace

Outcome Replay(const JobTerms& terms, const Work& work, std::span<const Tick> ticks,
               Policy& policy) {
  return Run(terms, work, ticks, policy).ToEnd();
}

}  // namespace sabia::spot
