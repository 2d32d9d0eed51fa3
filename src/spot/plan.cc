#include "spot/plan.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace sabia::spot {
namespace {

// Rows of one market state: idle, then per rest of changeover (0 to rests - 1) spot, then on
// demand.
constexpr std::size_t kIdle = 0;
constexpr std::size_t kPadding = 1;  // the column of slack -1: too late

double Ratio(Millis a, Millis b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

}  // namespace

double ExpectedHours::Of(Placement placement) const {
  return placement == Placement::kIdle ? wait : placement == Placement::kSpot ? spot : on_demand;
}

Plan::Plan(const JobTerms& terms, const Hazards& hazards, Millis work_left, Millis time_left,
           PlanRoom room)
    : cells_max_(room.cells_max),
      price_ratio_(static_cast<float>(terms.PriceRatio())),
      ages_(hazards.ages),
      values_(std::move(room.memory)) {
  ChooseStep(terms, work_left, time_left);
  for (std::size_t age = 0; age < kAgeClasses; ++age) {
    available_[age] = MovesOf(hazards, {true, age});
    unavailable_[age] = MovesOf(hazards, {false, age});
  }
  Fill();
}

void Plan::ChooseStep(const JobTerms& terms, Millis work_left, Millis time_left) {
  // On average a reclaim destroys half of what it may.
  const Millis delay = std::max(terms.changeover + terms.lost_work_max / 2, Millis(1));
  const Millis slack = std::max(time_left - work_left, Millis(0));
  for (step_ = std::max(terms.look, delay / 2);; step_ += std::max(step_ / 8, Millis(1))) {
    steps_ = static_cast<std::int64_t>(std::ceil(Ratio(time_left, step_))) + 1;
    width_ = static_cast<std::size_t>(std::ceil(Ratio(slack, step_))) + 2 + kPadding;
    rests_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(Ratio(delay, step_))));
    const auto rows =
        static_cast<std::int64_t>(Row({true, kAgeClasses - 1}, kIdle)) + 1 + 2 * rests_;
    if ((steps_ + 1) * rows * static_cast<std::int64_t>(width_) <= cells_max_) break;
  }
  begun_share_ = static_cast<double>(rests_) - Ratio(delay, step_);
}

// Within a step of several looks a young spell grows through several classes.
Plan::Moves Plan::MovesOf(const Hazards& hazards, Spot spot) const {
  const bool last = spot.age + 1 == kAgeClasses;
  const Millis begin = ages_.begin(spot.age);
  double survives = 1;
  for (Millis passed{0}; passed < step_; passed += ages_.look()) {
    const double share = std::min(1.0, Ratio(step_ - passed, ages_.look()));
    const std::size_t age = std::max(spot.age, ages_.ClassOf(begin + passed));
    survives *= std::pow(1 - hazards.Ends(spot.available, age), share);
  }
  Moves out{.ends = static_cast<float>(1 - survives)};
  if (last) {
    out.older = spot.age;
    return out;
  }
  const Millis width = ages_.begin(spot.age + 1) - begin;
  out.ages = static_cast<float>(std::min(1.0, Ratio(step_, width)));
  out.older = std::max(spot.age + 1, ages_.ClassOf(begin + step_));
  return out;
}

// Without capacity nothing is on spot: those states have no rows for it.
std::size_t Plan::Row(Spot spot, std::size_t placement) const {
  const auto rests = static_cast<std::size_t>(rests_);
  if (spot.available) return kAgeClasses * (1 + rests) + spot.age * (1 + 2 * rests) + placement;
  const std::size_t on_demand = placement == kIdle ? kIdle : placement - rests;
  return spot.age * (1 + rests) + on_demand;
}

std::size_t Plan::Running(Placement placement, std::int64_t rest) const {
  const auto first = static_cast<std::size_t>(placement == Placement::kSpot ? 1 : 1 + rests_);
  return first + static_cast<std::size_t>(rest);
}

float* Plan::At(std::int64_t left, std::size_t row) {
  const std::size_t rows =
      Row({true, kAgeClasses - 1}, kIdle) + 1 + 2 * static_cast<std::size_t>(rests_);
  return values_.data() + (static_cast<std::size_t>(left) * rows + row) * width_;
}
const float* Plan::At(std::int64_t left, std::size_t row) const {
  return const_cast<Plan*>(this)->At(left, row);
}

void Plan::Fill() {
  const std::size_t rows =
      Row({true, kAgeClasses - 1}, kIdle) + 1 + 2 * static_cast<std::size_t>(rests_);
  values_.resize(static_cast<std::size_t>(steps_ + 1) * rows * width_);
  std::fill_n(values_.begin(), rows * width_, 0.0F);  // the others are filled below
  scratch_.assign((3 * static_cast<std::size_t>(rests_) * 2 + 8) * width_, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) At(0, row)[0] = kMissedHours;
  for (std::int64_t left = 1; left <= steps_; ++left) {
    for (std::size_t age = 0; age < kAgeClasses; ++age) {
      FillMarket(left, {false, age});
      FillMarket(left, {true, age});
    }
  }
  scratch_ = {};
}

// Expected value, after one step, of having been placed like this: the market moves, and spot that
// goes leaves the job idle.
void Plan::Expect(std::int64_t left, Spot spot, std::size_t placement,
                  float* __restrict out) const {
  const Moves moves = (spot.available ? available_ : unavailable_)[spot.age];
  const bool lost =
      spot.available && placement != kIdle && placement < Running(Placement::kOnDemand, 0);
  const float* const same = At(left - 1, Row(spot, placement));
  const float* aged = At(left - 1, Row({spot.available, moves.older}, placement));
  const float* flipped = At(left - 1, Row({!spot.available, 0}, lost ? kIdle : placement));
  const float to_aged = (1 - moves.ends) * moves.ages;
  const float to_same = (1 - moves.ends) - to_aged;
  for (std::size_t i = 0; i < width_; ++i) {
    out[i] = to_same * same[i] + to_aged * aged[i] + moves.ends * flipped[i];
  }
}

// A step on an instance: `after` is expected when it is used up without progress; when work goes on
// in a share of it (`begun`, or null for none), slack is lost in the rest only.
void Plan::RunFor(const float* after, const float* begun, float price, float* out) const {
  const float hours = static_cast<float>(Ratio(step_, Millis(3'600'000))) * price;
  out[0] = kMissedHours;
  if (begun == nullptr) {
    for (std::size_t i = 1; i < width_; ++i) out[i] = hours + after[i - 1];
    return;
  }
  const auto share = static_cast<float>(begun_share_);
  for (std::size_t i = 1; i < width_; ++i) {
    out[i] = hours + share * begun[i] + (1 - share) * after[i - 1];
  }
}

void Plan::FillMarket(std::int64_t left, Spot spot) {
  float* scratch = scratch_.data();
  float* const expected = scratch;
  float* const wait = scratch + width_;
  float* const start_spot = scratch + 2 * width_;
  float* const start_on_demand = scratch + 3 * width_;
  Expect(left, spot, kIdle, expected);
  wait[0] = kMissedHours;
  std::copy_n(expected, width_ - 1, wait + 1);

  const float hours = static_cast<float>(Ratio(step_, Millis(3'600'000)));
  const auto run = [&](Placement kind, float* start) {
    const float price = kind == Placement::kSpot ? 1.0F : price_ratio_;
    Expect(left, spot, Running(kind, 0), expected);
    float* const working = At(left, Row(spot, Running(kind, 0)));
    working[0] = kMissedHours;
    for (std::size_t i = 1; i < width_; ++i) working[i] = hours * price + expected[i];
    // The step that ends a changeover leads to rest 0; those before lose a whole step of slack.
    float* begins = rests_ == 1 ? start : At(left, Row(spot, Running(kind, 1)));
    RunFor(expected, expected, price, begins);
    for (std::int64_t rest = 2; rest <= rests_; ++rest) {
      Expect(left, spot, Running(kind, rest - 1), expected);
      begins = rest == rests_ ? start : At(left, Row(spot, Running(kind, rest)));
      RunFor(expected, nullptr, price, begins);
    }
  };
  run(Placement::kOnDemand, start_on_demand);
  std::copy_n(wait, width_, At(left, Row(spot, kIdle)));
  float* const idle = At(left, Row(spot, kIdle));
  if (spot.available) run(Placement::kSpot, start_spot);
  for (std::size_t i = 0; i < width_; ++i) {
    const float anew = std::min(idle[i], start_on_demand[i]);
    idle[i] = spot.available ? std::min(anew, start_spot[i]) : anew;
  }
  Choose(left, spot);
}

// Whatever runs may be left; and where no work is left, nothing is paid.
void Plan::Choose(std::int64_t left, Spot spot) {
  const float* const idle = At(left, Row(spot, kIdle));
  const std::size_t first = Row(spot, kIdle) + 1;
  const std::size_t count = static_cast<std::size_t>(spot.available ? 2 * rests_ : rests_);
  for (std::size_t row = first; row < first + count; ++row) {
    float* const value = At(left, row);
    for (std::size_t i = 0; i < width_; ++i) value[i] = std::min(value[i], idle[i]);
  }
  const std::size_t done = static_cast<std::size_t>(left) + kPadding;  // slack == time left
  for (std::size_t row = first - 1; done < width_ && row < first + count; ++row) {
    std::fill(At(left, row) + done, At(left, row) + width_, 0.0F);
  }
}

double Plan::Interpolate(std::size_t row, double left, double slack) const {
  if (left - slack <= 0) return 0;
  if (slack < 0) return kMissedHours;
  left = std::clamp(left, 0.0, static_cast<double>(steps_));
  slack = std::min(slack, static_cast<double>(width_ - 1 - kPadding));
  const auto early = std::min(static_cast<std::int64_t>(left), steps_ - 1);
  const auto low = std::min(static_cast<std::size_t>(slack), width_ - 2 - kPadding);
  const double t = left - static_cast<double>(early);
  const double s = slack - static_cast<double>(low);
  const float* a = At(early, row) + low + kPadding;
  const float* b = At(early + 1, row) + low + kPadding;
  return (1 - t) * ((1 - s) * a[0] + s * a[1]) + t * ((1 - s) * b[0] + s * b[1]);
}

double Plan::ExpectAt(Spot spot, std::size_t placement, double left, double slack) const {
  const Moves moves = (spot.available ? available_ : unavailable_)[spot.age];
  const bool lost =
      spot.available && placement != kIdle && placement < Running(Placement::kOnDemand, 0);
  const double stays = 1 - moves.ends;
  return stays * (1 - moves.ages) * Interpolate(Row(spot, placement), left, slack) +
         stays * moves.ages *
             Interpolate(Row({spot.available, moves.older}, placement), left, slack) +
         moves.ends * Interpolate(Row({!spot.available, 0}, lost ? kIdle : placement), left, slack);
}

ExpectedHours Plan::Evaluate(const Situation& now, Millis work_left) const {
  const double left = Ratio(now.time_left, step_);
  const double slack = Ratio(now.time_left - work_left, step_);
  const double hours = Ratio(step_, Millis(3'600'000));
  const Spot spot{now.spot_available, ages_.ClassOf(now.spell_age)};
  const auto run = [&](Placement kind) {
    const bool stays = now.placement == kind;
    const double price = kind == Placement::kSpot ? 1 : price_ratio_;
    const double rest = stays ? std::max(0.0, Ratio(now.changeover_left, step_))
                              : static_cast<double>(rests_) - begun_share_;
    const double wasted = std::min(rest, 1.0);
    const double used = std::min(1.0, rest + left - slack);  // it may end within the step
    if (used < 1) return hours * price * used;
    const auto after = static_cast<std::int64_t>(std::ceil(std::max(0.0, rest - 1) - 1e-9));
    const std::size_t next = Running(kind, std::min(after, rests_ - 1));
    return hours * price + ExpectAt(spot, next, left - 1, slack - wasted);
  };
  ExpectedHours out;
  out.wait = ExpectAt(spot, kIdle, left - 1, slack - 1);
  out.on_demand = run(Placement::kOnDemand);
  if (now.spot_available) out.spot = run(Placement::kSpot);
  return out;
}

bool Plan::Covers(const Situation& now, Millis work_left) const {
  return Ratio(now.time_left, step_) <= static_cast<double>(steps_) &&
         Ratio(now.time_left - work_left, step_) <= static_cast<double>(width_ - 1 - kPadding);
}

}  // namespace sabia::spot
