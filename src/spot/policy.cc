#include "spot/policy.h"

namespace sabia::spot {
namespace {

class OnDemandOnly final : public Policy {
 public:
  Placement Decide(const Situation&) override { return Placement::kOnDemand; }
};

// Rule 2. Looks further apart than d must not skip the moment.
bool MustRunOnDemand(const JobTerms& terms, const Situation& now) {
  const Millis work = WorkLeftMax(terms, now);
  return now.time_left < work + 2 * terms.Delay() ||
         now.time_left - terms.look < work + terms.Delay();
}

class Greedy final : public Policy {
 public:
  explicit Greedy(const JobTerms& terms) : terms_(terms) {}

  Placement Decide(const Situation& now) override {
    if (now.placement != Placement::kIdle) return now.placement;
    if (MustRunOnDemand(terms_, now)) return Placement::kOnDemand;
    return now.spot_available ? Placement::kSpot : Placement::kIdle;
  }

 private:
  JobTerms terms_;
};

class UniformProgress final : public Policy {
 public:
  UniformProgress(const JobTerms& terms, Foresight foresight)
      : terms_(terms), oracle_(foresight == Foresight::kNextSpotLifetime) {}

  bool SeesTheFuture() const override { return oracle_; }

  Placement Decide(const Situation& now) override {
    if (now.placement == Placement::kSpot) return Placement::kSpot;  // rule 3
    if (MustRunOnDemand(terms_, now)) return Placement::kOnDemand;   // rule 2
    return now.placement == Placement::kIdle ? FromIdle(now) : FromOnDemand(now);
  }

 private:
  Placement FromIdle(const Situation& now) const {
    if (now.spot_available && Lasts(now, 1)) return Placement::kSpot;           // rule 5
    return IsBehind(now, Millis(0)) ? Placement::kOnDemand : Placement::kIdle;  // rule 4
  }

  Placement FromOnDemand(const Situation& now) const {
    const bool must_stay = IsBehind(now, 2 * terms_.Delay());  // rule 6
    if (oracle_ && now.spot_available && Lasts(now, 2)) return Placement::kSpot;
    if (must_stay) return Placement::kOnDemand;
    return now.spot_available && !oracle_ ? Placement::kSpot : Placement::kIdle;
  }

  // Whether the work done is less than uniform progress asks for `later` from now.
  bool IsBehind(const Situation& now, Millis later) const {
    const double elapsed = static_cast<double>((terms_.time - now.time_left + later).count());
    const double share = elapsed / static_cast<double>(terms_.time.count());
    return static_cast<double>(now.work_done.count()) <
           share * static_cast<double>(terms_.work.count());
  }

  // Whether spot pays for `changeovers` of them before it goes. Without an oracle: always.
  bool Lasts(const Situation& now, int changeovers) const {
    if (!oracle_ || !now.spot_lifetime) return true;
    const double k = terms_.PriceRatio();
    if (k <= 1) return false;
    return static_cast<double>(now.spot_lifetime->count()) >
           changeovers * k * static_cast<double>(terms_.Delay().count()) / (k - 1);
  }

  JobTerms terms_;
  bool oracle_;
};

}  // namespace

std::unique_ptr<Policy> MakeOnDemandOnly() { return std::make_unique<OnDemandOnly>(); }

std::unique_ptr<Policy> MakeGreedy(const JobTerms& terms) {
  return std::make_unique<Greedy>(terms);
}

std::unique_ptr<Policy> MakeUniformProgress(const JobTerms& terms, Foresight foresight) {
  return std::make_unique<UniformProgress>(terms, foresight);
}

}  // namespace sabia::spot
