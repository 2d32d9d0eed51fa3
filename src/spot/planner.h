// Our policy: the placement of least expected cost among those that are safe, and why.
//
// It plans (plan.h) with hazards learned from the market's past (hazard.h), goes on learning while
// the job runs, and plans anew from time to time. Safety does not rest on the plan: a placement is
// taken only if the deadline can be met whatever the market does (IsSafe), counting the work at the
// upper end of its estimate.
//
// Pure; not thread-safe. After a restart a planner made from the market's past and the job's
// present goes on as before: it holds nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spot/hazard.h"
#include "spot/plan.h"
#include "spot/policy.h"

namespace sabia::spot {

struct PlannerOptions {
  LearnOptions learn;
  // Plans are made anew so often, with what was seen meanwhile.
  Millis replan_every{std::chrono::hours(8)};
  // A move must save this share of a changeover's cost: plans are not that exact.
  double reluctance = 0;
  std::int64_t cells_max = kPlanCellsMax;  // of a plan: memory against exactness
};

struct Choice {
  Placement placement = Placement::kIdle;
  bool possible = false;  // spot without capacity is not
  bool safe = false;      // IsSafe
  Money expected_cost;    // from now to the end of the job; of no meaning unless possible and safe
};

struct Advice {
  Placement placement = Placement::kIdle;
  Hazards hazards;              // that the plan is made with
  std::vector<Choice> choices;  // wait, spot, on-demand
  // "spot: $12.30 expected; wait $12.90, on-demand $30.20"
  std::string Explain() const;
};

class Planner final : public Policy {
 public:
  // `past` ends now: at the first question.
  Planner(const JobTerms& terms, std::vector<Spell> past, const PlannerOptions& options = {});

  Placement Decide(const Situation& now) override;
  // The same, with the expected cost of each choice.
  Advice Advise(const Situation& now);

 private:
  void Observe(const Situation& now);
  void PlanAnew(const Situation& now);
  ExpectedHours Evaluate(const Situation& now);
  Placement Cheapest(const Situation& now, const ExpectedHours& hours) const;

  JobTerms terms_;
  PlannerOptions options_;
  std::vector<Spell> past_;
  std::optional<Millis> observed_left_;  // time left when the market was last seen
  Millis planned_left_{0};
  Hazards hazards_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sabia::spot
