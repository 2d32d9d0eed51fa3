#include "spot/planner.h"

#include <algorithm>

namespace sabia::spot {
namespace {

constexpr Placement kPlacements[] = {Placement::kIdle, Placement::kSpot, Placement::kOnDemand};

}  // namespace

Planner::Planner(const JobTerms& terms, std::vector<Spell> past, const PlannerOptions& options)
    : terms_(terms),
      options_(options),
      past_(std::move(past)),
      hazards_{.ages = Ages(terms.look)} {}

// The market as it is now ends the last spell, or goes on with it.
void Planner::Observe(const Situation& now) {
  const Millis passed = observed_left_.value_or(now.time_left) - now.time_left;
  observed_left_ = now.time_left;
  if (past_.empty()) {
    past_.push_back({.available = now.spot_available, .length = now.spell_age, .end_seen = false});
    return;
  }
  past_.back().length += std::max(passed, Millis(0));
  if (past_.back().available == now.spot_available) return;
  past_.back().end_seen = true;
  past_.push_back({.available = now.spot_available, .end_seen = false});
}

void Planner::PlanAnew(const Situation& now) {
  hazards_ = Learn(past_, terms_.look, options_.learn);
  planned_left_ = now.time_left;
  PlanRoom room{Plan::MemoryOf(std::move(plan_)), options_.cells_max};
  plan_ = std::make_unique<Plan>(terms_, hazards_, WorkLeft(terms_, now), now.time_left,
                                 std::move(room));
}

ExpectedHours Planner::Evaluate(const Situation& now) {
  Observe(now);
  const bool old = plan_ == nullptr || planned_left_ - now.time_left >= options_.replan_every ||
                   !plan_->Covers(now, WorkLeft(terms_, now));
  if (old) PlanAnew(now);
  return plan_->Evaluate(now, WorkLeft(terms_, now));
}

Placement Planner::Cheapest(const Situation& now, const ExpectedHours& hours) const {
  Placement best = LastResort(terms_, now);
  double least = 2.0 * kMissedHours;
  for (const Placement placement : kPlacements) {
    if (!IsSafe(terms_, now, placement)) continue;
    double cost = hours.Of(placement);
    if (placement == now.placement) {
      cost -= options_.reluctance * static_cast<double>(terms_.Delay().count()) / 3.6e6;
    }
    if (cost < least) {
      least = cost;
      best = placement;
    }
  }
  return best;
}

Placement Planner::Decide(const Situation& now) { return Cheapest(now, Evaluate(now)); }

Advice Planner::Advise(const Situation& now) {
  const ExpectedHours hours = Evaluate(now);
  Advice out{.placement = Cheapest(now, hours), .hazards = hazards_, .choices = {}};
  for (const Placement placement : kPlacements) {
    const double nanos = hours.Of(placement) * static_cast<double>(terms_.spot_per_hour.nanos());
    out.choices.push_back({.placement = placement,
                           .possible = placement != Placement::kSpot || now.spot_available,
                           .safe = IsSafe(terms_, now, placement),
                           .expected_cost = Money::FromNanos(static_cast<std::int64_t>(nanos))});
  }
  return out;
}

std::string Advice::Explain() const {
  std::string chosen, others;
  for (const Choice& choice : choices) {
    std::string text(Name(choice.placement));
    if (!choice.possible) {
      text += ": no capacity";
    } else if (!choice.safe) {
      text += ": could miss the deadline";
    } else {
      text += fmt::format(": ${:.2f} expected", choice.expected_cost.dollars());
    }
    if (choice.placement == placement) {
      chosen = text;
    } else {
      others += (others.empty() ? "" : ", ") + text;
    }
  }
  return chosen + "; " + others;
}

}  // namespace sabia::spot
