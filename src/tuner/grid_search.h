// Grid search: every combination of categories once, the last parameter fastest.
//
// Made only for categorical ranges and a grid within the limit; the refusal names what is too
// large. The next suggestion is the first combination that is neither finished nor pending.
#pragma once

#include "tuner/strategy.h"

namespace sabia::tuner {

// Training jobs that a tuning job may have (AWS's quota).
inline constexpr std::uint64_t kGridLimit = 750;

class GridSearch : public Strategy {
 public:
  static Result<GridSearch> Create(Space space, std::uint64_t limit = kGridLimit);
  std::uint64_t Count() const { return space_.Count(); }
  std::optional<Suggestion> Suggest(const Trials& trials) override;

 private:
  explicit GridSearch(Space space) : space_(std::move(space)) {}
  Space space_;
};

}  // namespace sabia::tuner
