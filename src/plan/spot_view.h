// What the planner of training jobs sees of the spot market and of a deadline policy. Pure values.
#pragma once

#include <optional>
#include <string>

#include "spot/job.h"
#include "spot/market.h"

namespace sabia::plan {

struct SpotOffer {
  std::string zone;  // "" where no market decides
  std::optional<Money> per_hour;
};

struct SpotAdvice {
  spot::Placement placement = spot::Placement::kIdle;
  std::string why;  // "planner: spot: $1.20 expected; wait: …"
};

struct SpotView {
  // Of a queued job: where its capacity is there now. Nothing, with the reason: nowhere.
  std::optional<SpotOffer> offer = SpotOffer{};
  std::string no_offer;
  // Of a running spot attempt: the first notice since it was launched.
  std::optional<spot::InstanceEvent> notice;
  // Of a job with a deadline policy: what it should do from now on.
  std::optional<SpotAdvice> advice;
  std::optional<WallTime> look_at;  // when the view may have changed
};

}  // namespace sabia::plan
