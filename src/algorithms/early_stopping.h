// When to stop for want of improvement, and which round was the best.
//
// Pure. The whole state is (best_round, best_value), so that a resumed run continues where it was.
#pragma once

#include <optional>

namespace sabia::algorithms {

class EarlyStopping {
 public:
  struct Best {
    int round = 0;
    double value = 0;
  };

  EarlyStopping(int patience, bool maximise) : patience_(patience), maximise_(maximise) {}

  void Watch(bool maximise) { maximise_ = maximise; }
  // True when this round is the best so far; only a strict improvement counts.
  bool Observe(int round, double value) {
    const bool better = !seen_ || (maximise_ ? value > best_.value : value < best_.value);
    if (better) Restore({round, value});
    return better;
  }
  // After `round`: as many rounds as the patience went by without improvement.
  bool ShouldStop(int round) const { return seen_ && round - best_.round >= patience_; }

  std::optional<Best> best() const { return seen_ ? std::optional(best_) : std::nullopt; }
  void Restore(Best best) {
    best_ = best;
    seen_ = true;
  }

 private:
  int patience_;
  bool maximise_;
  bool seen_ = false;
  Best best_;
};

}  // namespace sabia::algorithms
