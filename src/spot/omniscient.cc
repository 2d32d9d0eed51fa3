#include "spot/omniscient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace sabia::spot {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The job in whole units.
struct Grid {
  std::int64_t unit_ms = 1;
  std::int64_t look = 0, changeover = 0, time = 0, slack = 0;
  std::int64_t ticks = 0;
  std::int64_t rests =
      0;  // rests of a changeover that a tick can begin with: 0 and those behind it

  std::int64_t cells() const { return ticks * (slack + 1) * (2 * rests + 1); }
};

Grid MakeGrid(const JobTerms& terms, Millis work, std::int64_t unit) {
  Grid grid;
  grid.unit_ms = unit;
  grid.look = terms.look.count() / unit;
  grid.changeover = terms.changeover.count() / unit;
  grid.time = (terms.time.count() + unit - 1) / unit;
  grid.slack = grid.time - work.count() / unit;
  grid.ticks = (grid.time + grid.look - 1) / grid.look;
  grid.rests = std::max<std::int64_t>(1, (grid.changeover + grid.look - 1) / grid.look);
  return grid;
}

Grid ChooseGrid(const JobTerms& terms, Millis work) {
  const std::int64_t exact = std::gcd(std::gcd(terms.look.count(), terms.changeover.count()),
                                      std::gcd(work.count(), terms.time.count()));
  Grid grid = MakeGrid(terms, work, exact);
  if (grid.cells() <= kOmniscientCellsMax) return grid;
  // The unit divides the look, so that a tick stays a tick.
  for (std::int64_t parts = terms.look.count() / exact; parts >= 1; --parts) {
    if (terms.look.count() % parts != 0) continue;
    grid = MakeGrid(terms, work, terms.look.count() / parts);
    if (grid.cells() <= kRoundedCellsMax) break;
  }
  return grid;
}

// Costs by slack, one row per placement: idle, then spot and on demand by the rest of changeover.
class Table {
 public:
  Table(const Grid& grid, Money on_demand_per_hour)
      : grid_(grid), on_demand_(PerUnit(on_demand_per_hour)) {
    const auto width = static_cast<std::size_t>(grid.slack + 1);
    rows_.assign(static_cast<std::size_t>(2 * grid.rests + 1), std::vector<double>(width, kNever));
    next_ = rows_;
    start_.assign(width, kNever);
    start_on_demand_ = start_;
  }

  // Goes back by the tick that begins with `left` units to the deadline.
  void StepBack(std::int64_t left, const Tick& tick) {
    std::swap(rows_, next_);
    const double spot = PerUnit(tick.spot_per_hour);
    Idle(left, rows_[0]);
    RunFor(left, grid_.changeover, kFirstSpot, spot, start_);
    RunFor(left, grid_.changeover, first_on_demand(), on_demand_, start_on_demand_);
    for (std::int64_t rest = 0; rest < grid_.rests; ++rest) {
      const auto at = static_cast<std::size_t>(rest);
      RunFor(left, Rest(rest), kFirstSpot, spot, rows_[kFirstSpot + at]);
      RunFor(left, Rest(rest), first_on_demand(), on_demand_, rows_[first_on_demand() + at]);
    }
    Choose(tick.spot_available);
  }

  double StartCost() const { return rows_[0].back(); }

 private:
  static constexpr std::size_t kFirstSpot = 1;
  std::size_t first_on_demand() const { return kFirstSpot + static_cast<std::size_t>(grid_.rests); }

  double PerUnit(Money per_hour) const {
    return static_cast<double>(per_hour.nanos()) * static_cast<double>(grid_.unit_ms) / 3.6e6;
  }

  // Row 0 has no rest; row i what is left of a changeover after i looks.
  std::int64_t Rest(std::int64_t row) const {
    return row == 0 ? 0 : grid_.changeover - row * grid_.look;
  }
  std::size_t RowAfter(std::int64_t rest) const {
    if (rest <= 0) return 0;
    return static_cast<std::size_t>((grid_.changeover - rest) / grid_.look);
  }

  void Idle(std::int64_t left, std::vector<double>& out) const {
    const std::int64_t lost = std::min(grid_.look, left);
    for (std::int64_t slack = 0; slack <= grid_.slack; ++slack) {
      out[slack] = slack >= left ? 0 : slack < lost ? kNever : next_[0][slack - lost];
    }
  }

  // One tick on an instance whose changeover has `rest` to go.
  void RunFor(std::int64_t left, std::int64_t rest, std::size_t first_row, double price,
              std::vector<double>& out) const {
    const std::int64_t used = std::min(grid_.look, left);
    const std::int64_t wasted = std::min(rest, used);
    const std::vector<double>& after = next_[first_row + RowAfter(rest - used)];
    const double cost = price * static_cast<double>(used);
    const std::int64_t ends_from = std::max<std::int64_t>(0, rest + left - used);
    const std::int64_t width = grid_.slack + 1;
    std::fill_n(out.begin(), std::min(wasted, width), kNever);
    for (std::int64_t slack = wasted; slack < std::min(ends_from, width); ++slack) {
      out[slack] = cost + after[slack - wasted];
    }
    for (std::int64_t slack = ends_from; slack < width; ++slack) {
      out[slack] = price * static_cast<double>(std::max<std::int64_t>(0, rest + left - slack));
    }
  }

  void Choose(bool spot_available) {
    const std::size_t width = start_.size();
    std::vector<double>& idle = rows_[0];
    for (std::size_t slack = 0; slack < width; ++slack) {
      const double spot = spot_available ? start_[slack] : kNever;
      const double anew = std::min({idle[slack], spot, start_on_demand_[slack]});
      idle[slack] = anew;
    }
    for (std::size_t row = kFirstSpot; row < rows_.size(); ++row) {
      const bool gone = row < first_on_demand() && !spot_available;
      for (std::size_t slack = 0; slack < width; ++slack) {
        rows_[row][slack] = gone ? idle[slack] : std::min(rows_[row][slack], idle[slack]);
      }
    }
  }

  Grid grid_;
  double on_demand_;
  std::vector<std::vector<double>> rows_, next_;
  std::vector<double> start_, start_on_demand_;
};

}  // namespace

Result<Bound> Omniscient(const JobTerms& terms, Millis true_work, std::span<const Tick> ticks) {
  JobTerms truth = terms;
  truth.work = true_work;
  truth.work_error = 0;
  RETURN_IF_ERROR(Check(truth));
  const Grid grid = ChooseGrid(truth, true_work);
  const auto needed = (terms.time + terms.look - Millis(1)) / terms.look;
  if (std::ssize(ticks) < needed) {
    return Fail(ErrorCode::kInvalidArgument, "the market has {} ticks, the deadline is in {}",
                ticks.size(), needed);
  }
  Table table(grid, terms.on_demand_per_hour);
  for (std::int64_t i = grid.ticks - 1; i >= 0; --i) {
    table.StepBack(grid.time - i * grid.look, ticks[std::min<std::size_t>(i, ticks.size() - 1)]);
  }
  const bool exact =
      terms.look.count() % grid.unit_ms == 0 && terms.changeover.count() % grid.unit_ms == 0 &&
      true_work.count() % grid.unit_ms == 0 && terms.time.count() % grid.unit_ms == 0;
  // Rounded down: a bound that is above an outcome by a billionth would be wrong.
  return Bound{Money::FromNanos(static_cast<std::int64_t>(std::floor(table.StartCost()))), exact};
}

}  // namespace sabia::spot
