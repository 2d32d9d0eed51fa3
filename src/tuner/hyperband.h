// Hyperband and ASHA: many trials with little training, more for those that do well.
//
// Asynchronous successive halving (Li et al. 2020): a trial that reaches a rung goes on when it is
// among the best 1/reduction of all trials that reached the rung. ASHA has one bracket; Hyperband
// (Li et al. 2018) deals trials out to brackets whose first rungs lie higher and higher, so that
// curves which cross late are not lost. Two ways to go on:
//   - without pauses (as AWS does it): every trial aims at the largest resource, and Judge() stops
//   it;
//   - with pauses: a suggestion trains up to a rung only, and a later suggestion continues the best
//   from
//     their checkpoints.
// What a rung saw is read from the trials' curves, so a restart changes nothing. Threading: like
// Strategy.
#pragma once

#include <memory>

#include "tuner/strategy.h"

namespace sabia::tuner {

inline constexpr std::int64_t kResourceMax = 20000;  // AWS's limit

struct HyperbandOptions {
  std::uint64_t seed = 0;
  Goal goal = Goal::kMinimize;
  std::int64_t min_resource = 1;
  std::int64_t max_resource = 1;
  int reduction = 3;
  bool one_bracket = false;  // ASHA
  bool pauses = false;
};

struct Bracket {
  std::vector<std::int64_t> rungs;  // ascending; the last is the largest resource
  std::uint64_t share = 0;          // of the trials that are dealt out in one round
};

enum class Verdict { kContinue, kStop };

class Hyperband : public Strategy {
 public:
  // Refuses resources and reductions out of range, by name. New configurations come from `source`;
  // null: quasi-random ones.
  static Result<Hyperband> Create(Space space, HyperbandOptions options,
                                  std::unique_ptr<Strategy> source = nullptr);

  std::optional<Suggestion> Suggest(const Trials& trials) override;
  // Whether a running trial that just reported a measurement should go on. Without pauses only.
  Verdict Judge(const Trial& running, std::span<const Trial> others) const;

  const std::vector<Bracket>& brackets() const { return brackets_; }
  // The bracket that a trial was dealt to, by its number of creation.
  const Bracket& BracketOf(std::int64_t number) const;

 private:
  Hyperband(HyperbandOptions options, std::unique_ptr<Strategy> source);
  struct Chains;
  std::optional<Suggestion> PromotionAt(const Bracket& bracket, std::size_t rung,
                                        const Trials& trials, const Chains& chains) const;
  std::optional<Suggestion> Promotion(const Trials& trials) const;
  bool AmongBest(double loss, std::vector<double> others) const;
  std::optional<double> LossAt(const Trial& trial, std::int64_t rung) const;

  HyperbandOptions options_;
  std::unique_ptr<Strategy> source_;
  std::vector<Bracket> brackets_;
};

}  // namespace sabia::tuner
