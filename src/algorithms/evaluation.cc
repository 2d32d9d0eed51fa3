#include "algorithms/evaluation.h"

#include <algorithm>
#include <set>

#include "algorithms/container_metrics.h"
#include "algorithms/hyperparameter_table.h"
#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

std::vector<std::string> Union(const std::string& tuning, const std::vector<std::string>& metrics) {
  std::vector<std::string> all;
  if (!tuning.empty() && !metrics.empty()) {
    std::set<std::string> sorted(metrics.begin(), metrics.end());
    sorted.insert(tuning);
    return {sorted.begin(), sorted.end()};
  }
  if (!tuning.empty()) return {tuning};
  for (const std::string& metric : metrics) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) all.push_back(metric);
  }
  return all;
}

// Puts a score where its metric already stands, or at the end.
void Put(Score score, std::vector<Score>* scores) {
  for (Score& seen : *scores) {
    if (seen.metric == score.metric) {
      seen.value = score.value;
      return;
    }
  }
  scores->push_back(std::move(score));
}

Status AddContainerMetrics(Booster& booster, const EvaluationSet& set, const MetricPlan& plan,
                           std::vector<Score>* scores) {
  const auto wants = [&](bool regression) {
    return std::any_of(
        plan.container.begin(), plan.container.end(),
        [&](const std::string& metric) { return IsRegressionMetric(metric) == regression; });
  };
  Predictions predictions;
  Predictions margins;
  if (wants(true)) {
    ASSIGN_OR_RETURN(predictions, booster.Predict(*set.matrix, {.margin = false}));
  }
  if (wants(false)) {
    ASSIGN_OR_RETURN(margins, booster.Predict(*set.matrix, {.margin = true}));
  }
  for (const std::string& metric : plan.container) {
    ASSIGN_OR_RETURN(
        const double value,
        ContainerMetric(metric, set.labels, IsRegressionMetric(metric) ? predictions : margins));
    Put({set.name, metric, value}, scores);
  }
  return {};
}

}  // namespace

MetricPlan PlanMetrics(const Hyperparameters& values) {
  MetricPlan plan;
  for (std::string& metric : Union(values.tuning_metric, values.eval_metrics)) {
    (IsContainerMetric(metric) ? plan.container : plan.native).push_back(std::move(metric));
  }
  plan.early_stopping = values.tuning_metric;
  if (plan.early_stopping.empty() && !values.eval_metrics.empty()) {
    plan.early_stopping = values.eval_metrics.back();
  }
  return plan;
}

bool IsMaximised(std::string_view metric) {
  const std::span<const std::string_view> maximised = MetricsToMaximise();
  return std::find(maximised.begin(), maximised.end(), metric.substr(0, metric.find('@'))) !=
         maximised.end();
}

Result<std::vector<Score>> ParseScores(std::string_view line, std::span<const EvaluationSet> sets) {
  const std::vector<std::string> fields = SplitText(line, '\t');
  std::vector<Score> scores;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const std::size_t colon = field.rfind(':');
    const auto value =
        ParsePythonFloat(std::string_view(field).substr(std::min(colon, field.size() - 1) + 1));
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const EvaluationSet& candidate) {
      return field.starts_with(candidate.name + "-");
    });
    if (colon == std::string::npos || !value || set == sets.end()) {
      return Fail(ErrorCode::kCorrupt, "the library printed '{}' among its metrics", field);
    }
    const std::size_t begin = set->name.size() + 1;
    scores.push_back({set->name, field.substr(begin, colon - begin), *value});
  }
  return scores;
}

Result<std::vector<Score>> Evaluate(Booster& booster, int round,
                                    std::span<const EvaluationSet> sets, const MetricPlan& plan) {
  std::vector<const Matrix*> matrices;
  std::vector<const char*> names;
  for (const EvaluationSet& set : sets) {
    matrices.push_back(set.matrix);
    names.push_back(set.name.c_str());
  }
  ASSIGN_OR_RETURN(const std::string line, booster.Evaluate(round, matrices, names));
  ASSIGN_OR_RETURN(const std::vector<Score> native, ParseScores(line, sets));
  std::vector<Score> all;
  for (const EvaluationSet& set : sets) {
    std::vector<Score> scores;
    for (const Score& score : native) {
      if (score.set == set.name) Put(score, &scores);
    }
    RETURN_IF_ERROR(AddContainerMetrics(booster, set, plan, &scores));
    all.insert(all.end(), scores.begin(), scores.end());
  }
  return all;
}

std::string RoundLine(int round, std::span<const Score> scores) {
  std::string line = fmt::format("[{}]", round);
  for (const Score& score : scores) {
    line += fmt::format("\t{}-{}:{:.5f}", score.set, score.metric, score.value);
  }
  return line;
}

}  // namespace sabia::algorithms
