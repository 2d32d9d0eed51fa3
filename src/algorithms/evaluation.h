// Which metrics a run prints each round, their values, and the line that shows them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/booster.h"
#include "algorithms/hyperparameters.h"
#include "base/result.h"

namespace sabia::algorithms {

struct MetricPlan {
  std::vector<std::string>
      native;  // computed by the library, in this order; none: the objective's default
  std::vector<std::string> container;  // computed here, printed after the native ones
  std::string early_stopping;          // "" when none was named: the last one printed
};

// eval_metric and the tuning objective together (sorted when both are given, as in the image).
MetricPlan PlanMetrics(const Hyperparameters& values);

// ndcg@5 is maximised like ndcg; what the image does not know is minimised.
bool IsMaximised(std::string_view metric);

struct EvaluationSet {
  const Matrix* matrix = nullptr;
  std::string name;  // "train", "validation"
  std::span<const float> labels;
};

struct Score {
  std::string set;
  std::string metric;
  double value = 0;
};

// All metrics of all sets, set by set. Errors: kInvalidArgument from the library or from a metric.
Result<std::vector<Score>> Evaluate(Booster& booster, int round,
                                    std::span<const EvaluationSet> sets, const MetricPlan& plan);

// The scores in the library's line for these sets. Pure. kCorrupt when it is no such line.
Result<std::vector<Score>> ParseScores(std::string_view line, std::span<const EvaluationSet> sets);

// "[3]\ttrain-rmse:1.25000\tvalidation-rmse:1.50000"
std::string RoundLine(int round, std::span<const Score> scores);

}  // namespace sabia::algorithms
