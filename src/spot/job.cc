#include "spot/job.h"

#include <algorithm>
#include <cmath>

namespace sabia::spot {
namespace {

constexpr double kWorkErrorMax = 10;

Status CheckRange(std::string_view name, Millis value, Millis least) {
  if (value >= least) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is {} ms: at least {} ms", name, value.count(),
              least.count());
}

}  // namespace

std::string_view Name(Placement placement) {
  switch (placement) {
    case Placement::kIdle:
      return "wait";
    case Placement::kSpot:
      return "spot";
    case Placement::kOnDemand:
      return "on-demand";
  }
  return "wait";
}

Millis JobTerms::WorkMax() const {
  return Millis(std::llround(static_cast<double>(work.count()) * (1 + work_error)));
}

double JobTerms::PriceRatio() const {
  return static_cast<double>(on_demand_per_hour.nanos()) /
         static_cast<double>(std::max<std::int64_t>(spot_per_hour.nanos(), 1));
}

Status Check(const JobTerms& terms) {
  RETURN_IF_ERROR(CheckRange("work", terms.work, Millis(1)));
  RETURN_IF_ERROR(CheckRange("look", terms.look, Millis(1)));
  RETURN_IF_ERROR(CheckRange("changeover", terms.changeover, Millis(0)));
  RETURN_IF_ERROR(CheckRange("lost work", terms.lost_work_max, Millis(0)));
  if (!(terms.work_error >= 0 && terms.work_error <= kWorkErrorMax)) {
    return Fail(ErrorCode::kInvalidArgument, "the error of the work is {}: 0 to {}",
                terms.work_error, kWorkErrorMax);
  }
  if (terms.spot_per_hour < Money() || terms.on_demand_per_hour < Money()) {
    return Fail(ErrorCode::kInvalidArgument, "a price is negative");
  }
  const Millis least = terms.WorkMax() + terms.changeover;
  if (terms.time < least) {
    return Fail(ErrorCode::kInvalidArgument,
                "the deadline after {} s cannot be met: the work may take {} s on demand, with its "
                "start-up",
                terms.time.count() / 1000, least.count() / 1000);
  }
  return {};
}

Millis WorkLeftMax(const JobTerms& terms, const Situation& now) {
  return std::max(terms.WorkMax() - now.work_done, Millis(1));
}

Millis WorkLeft(const JobTerms& terms, const Situation& now) {
  if (now.work_done < terms.work) return terms.work - now.work_done;
  return std::max(WorkLeftMax(terms, now) / 2, Millis(1));
}

bool IsSafe(const JobTerms& terms, const Situation& now, Placement placement) {
  const Millis work = WorkLeftMax(terms, now);
  switch (placement) {
    case Placement::kIdle:
      // At the next look an on-demand start must still do.
      return now.time_left - terms.look >= work + terms.changeover;
    case Placement::kSpot: {
      // The worst reclaim comes when the changeover is paid and nothing gained.
      const bool stays = now.placement == Placement::kSpot;
      const Millis wasted = std::min(stays ? now.changeover_left : terms.changeover, terms.look);
      return now.spot_available &&
             now.time_left - wasted >= work + terms.lost_work_max + terms.changeover;
    }
    case Placement::kOnDemand: {
      const bool stays = now.placement == Placement::kOnDemand;
      return now.time_left >= work + (stays ? now.changeover_left : terms.changeover);
    }
  }
  return false;
}

Placement LastResort(const JobTerms& terms, const Situation& now) {
  if (now.placement == Placement::kSpot && now.spot_available &&
      !IsSafe(terms, now, Placement::kOnDemand)) {
    return Placement::kSpot;  // a start on demand comes too late; spot may just hold
  }
  return Placement::kOnDemand;
}

}  // namespace sabia::spot
