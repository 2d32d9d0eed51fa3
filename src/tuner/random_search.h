// Random search: independent draws, or a scrambled Sobol sequence that fills the space more evenly.
//
// The n-th suggestion depends on the seed and n (and, in a finite space, on which configurations
// are taken: none is suggested twice). Microseconds.
#pragma once

#include "tuner/strategy.h"

namespace sabia::tuner {

enum class Draw { kIndependent, kSobol };

struct RandomSearchOptions {
  std::uint64_t seed = 0;
  Draw draw = Draw::kSobol;
};

class RandomSearch : public Strategy {
 public:
  RandomSearch(Space space, RandomSearchOptions options)
      : space_(std::move(space)), options_(options) {}
  std::optional<Suggestion> Suggest(const Trials& trials) override;

 private:
  Point PointOf(std::uint64_t n) const;

  Space space_;
  RandomSearchOptions options_;
};

}  // namespace sabia::tuner
