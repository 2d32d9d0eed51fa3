// What a job sees of the spot markets at a moment: where it could run, when its capacity goes, and
// what its deadline policy advises.
//
// Everything follows from the job's record, its agents' reports, the markets and the time, so that
// a daemon that starts again sees the same. What lies between two looks (SpotMemory) only saves
// work.
//
// Threading: thread-safe; a SpotMemory belongs to one call at a time.
#pragma once

#include <memory>
#include <optional>

#include "fleet/spot_markets.h"
#include "plan/deadline.h"

namespace sabia::control {

struct SpotMemory {
  int attempt = 0;  // that `notice` is of
  std::optional<spot::InstanceEvent> notice;
  plan::DeadlineAdvisor advisor;
  std::optional<plan::SpotAdvice> advice;
  std::optional<WallTime> asked_at;  // for that advice
  std::string asked_in;              // … and in what situation
};

class SpotDesk {
 public:
  // markets: null where spot capacity is always there and nobody asks for a deadline.
  SpotDesk(std::shared_ptr<const fleet::SpotMarkets> markets, plan::TrainingRules rules)
      : markets_(std::move(markets)), rules_(rules) {}

  plan::SpotView See(const plan::TrainingSnapshot& seen, SpotMemory& memory) const;

 private:
  struct Question;
  void SeeOffer(const Question& q, plan::SpotView& view) const;
  void SeeNotice(const Question& q, SpotMemory& memory, plan::SpotView& view) const;
  void SeeAdvice(const Question& q, SpotMemory& memory, plan::SpotView& view) const;
  std::string ZoneOf(const Question& q, const plan::SpotView& view) const;
  std::optional<WallTime> NextLaunch(const Question& q) const;

  const std::shared_ptr<const fleet::SpotMarkets> markets_;
  const plan::TrainingRules rules_;
};

}  // namespace sabia::control
