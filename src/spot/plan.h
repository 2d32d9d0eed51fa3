// The expected cost of a job from any situation on, by a finite-horizon dynamic programme.
//
// State: time left, slack (time left beyond the work left), placement with the rest of its
// changeover, and spot's spell: available or not, in which class of age. A spell ends by the hazard
// of its class; missing the deadline costs more than any job. Time goes in steps of at least the
// policy's look; between the grid's points costs are interpolated, with the slack kept exact.
//
// Cost: with T steps to the deadline, slack of S steps and c steps of changeover a plan takes about
// T * S * (2c + 1) * 34 cells of four bytes. The step grows until they are at most kPlanCellsMax,
// which are filled in about 0.1 s. A question to a plan costs microseconds.
//
// Thread-safe once made. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "spot/hazard.h"
#include "spot/job.h"

namespace sabia::spot {

inline constexpr std::int64_t kPlanCellsMax = 20'000'000;
// What a missed deadline costs, in hours of spot.
inline constexpr float kMissedHours = 1e7F;

// Expected cost to the end of the job, in hours of spot capacity, by the placement of the next
// step.
struct ExpectedHours {
  double wait = kMissedHours;
  double spot = kMissedHours;
  double on_demand = kMissedHours;

  double Of(Placement placement) const;
};

struct PlanRoom {
  std::vector<float>
      memory;  // an old plan's, or empty: fresh pages cost as much as the plan itself
  std::int64_t cells_max = kPlanCellsMax;
};

class Plan {
 public:
  // For a job with so much work and time left at most.
  Plan(const JobTerms& terms, const Hazards& hazards, Millis work_left, Millis time_left,
       PlanRoom room = {});
  static std::vector<float> MemoryOf(std::unique_ptr<Plan> plan) {
    return plan == nullptr ? std::vector<float>() : std::move(plan->values_);
  }

  ExpectedHours Evaluate(const Situation& now, Millis work_left) const;
  // False when the situation has more slack or time than the plan was made for.
  bool Covers(const Situation& now, Millis work_left) const;
  Millis step() const { return step_; }
  std::size_t cells() const { return values_.size(); }

 private:
  struct Moves {            // out of an age class within a step
    float ends = 0;         // the spell does
    float ages = 0;         // if it does not: to an older class
    std::size_t older = 0;  // that one
  };
  struct Spot {  // of the market, as a state
    bool available = false;
    std::size_t age = 0;
  };

  void ChooseStep(const JobTerms& terms, Millis work_left, Millis time_left);
  Moves MovesOf(const Hazards& hazards, Spot spot) const;
  void Fill();
  void FillMarket(std::int64_t left, Spot spot);
  void Expect(std::int64_t left, Spot spot, std::size_t placement, float* out) const;
  void RunFor(const float* after, const float* begun, float price, float* out) const;
  void Choose(std::int64_t left, Spot spot);

  std::size_t Row(Spot spot, std::size_t placement) const;
  float* At(std::int64_t left, std::size_t row);
  const float* At(std::int64_t left, std::size_t row) const;
  double Interpolate(std::size_t row, double left, double slack) const;
  double ExpectAt(Spot spot, std::size_t placement, double left, double slack) const;
  std::size_t Running(Placement placement, std::int64_t rest) const;

  std::int64_t cells_max_ = kPlanCellsMax;
  Millis step_{0};
  std::int64_t steps_ = 0;  // to the deadline
  std::int64_t rests_ = 1;  // steps in which a changeover goes on
  double begun_share_ = 0;  // of the last of them, in which work goes on
  float price_ratio_ = 1;
  std::size_t width_ = 0;  // slack: -1 to the most, in steps
  Ages ages_;
  std::array<Moves, kAgeClasses> available_, unavailable_;
  std::vector<float> values_;
  std::vector<float> scratch_;
};

}  // namespace sabia::spot
