#include "algorithms/container_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace sabia::algorithms {
namespace {

constexpr std::array<std::string_view, 10> kClassMetrics = {
    "accuracy",        "balanced_accuracy", "f1",     "f1_binary",   "f1_macro", "precision",
    "precision_macro", "precision_micro",   "recall", "recall_macro"};
constexpr std::string_view kRecallMicro = "recall_micro";
constexpr std::array<std::string_view, 4> kRegressionMetrics = {"mse", "rmse", "mae", "r2"};

template <typename List>
bool Contains(const List& list, std::string_view metric) {
  return std::find(list.begin(), list.end(), metric) != list.end();
}

struct ClassCounts {
  double hits = 0;       // label and prediction
  double labelled = 0;   // label
  double predicted = 0;  // prediction
  double precision() const { return predicted == 0 ? 0 : hits / predicted; }
  double recall() const { return labelled == 0 ? 0 : hits / labelled; }
  double f1() const { return labelled + predicted == 0 ? 0 : 2 * hits / (labelled + predicted); }
};

using Classes = std::map<int, ClassCounts>;

Result<Classes> CountClasses(std::string_view metric, std::span<const float> labels,
                             const std::vector<int>& predicted) {
  Classes classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int label = static_cast<int>(labels[i]);
    if (static_cast<float>(label) != labels[i]) {
      return Fail(ErrorCode::kInvalidArgument,
                  "Metric '{}' compares classes, but a label is {}: classification metrics need "
                  "whole numbers",
                  metric, labels[i]);
    }
    ++classes[label].labelled;
    ++classes[predicted[i]].predicted;
    if (label == predicted[i]) ++classes[label].hits;
  }
  return classes;
}

template <typename Measure>
double Macro(const Classes& classes, Measure measure) {
  double sum = 0;
  for (const auto& [label, counts] : classes) sum += measure(counts);
  return classes.empty() ? 0 : sum / static_cast<double>(classes.size());
}

// Mean recall over the classes that occur as labels.
double BalancedAccuracy(const Classes& classes) {
  double sum = 0;
  double present = 0;
  for (const auto& [label, counts] : classes) {
    if (counts.labelled == 0) continue;
    sum += counts.recall();
    ++present;
  }
  return present == 0 ? 0 : sum / present;
}

Result<double> ClassMetric(std::string_view metric, const Classes& classes) {
  double hits = 0;
  double rows = 0;
  for (const auto& [label, counts] : classes) {
    hits += counts.hits;
    rows += counts.labelled;
  }
  // Over all classes together precision, recall and accuracy are the same share.
  if (metric == "accuracy" || metric == "precision_micro" || metric == kRecallMicro) {
    return rows == 0 ? 0 : hits / rows;
  }
  const auto precision = [](const ClassCounts& counts) { return counts.precision(); };
  const auto recall = [](const ClassCounts& counts) { return counts.recall(); };
  const auto f1 = [](const ClassCounts& counts) { return counts.f1(); };
  if (metric == "balanced_accuracy") return BalancedAccuracy(classes);
  if (metric == "f1" || metric == "f1_macro") return Macro(classes, f1);
  if (metric == "precision_macro") return Macro(classes, precision);
  if (metric == "recall_macro") return Macro(classes, recall);
  const bool binary = std::all_of(classes.begin(), classes.end(), [](const auto& entry) {
    return entry.first == 0 || entry.first == 1;
  });
  if (!binary) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "Target is multiclass but average='binary'. Please choose another metric than '{}', "
        "for example its macro or micro form.",
        metric);
  }
  const auto one = classes.find(1);
  const ClassCounts counts = one == classes.end() ? ClassCounts{} : one->second;
  if (metric == "precision") return counts.precision();
  return metric == "recall" ? counts.recall() : counts.f1();
}

Result<double> RegressionMetric(std::string_view metric, std::span<const float> labels,
                                const Predictions& predictions) {
  if (predictions.groups != 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "Metric '{}' cannot be used with several values per row", metric);
  }
  const auto n = static_cast<double>(labels.size());
  double squares = 0;
  double absolutes = 0;
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double difference =
        static_cast<double>(labels[i]) - static_cast<double>(predictions.values[i]);
    squares += difference * difference;
    absolutes += std::abs(difference);
    sum += static_cast<double>(labels[i]);
  }
  if (metric == "mse") return squares / n;
  if (metric == "rmse") return std::sqrt(squares / n);
  if (metric == "mae") return absolutes / n;
  if (labels.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  double spread = 0;
  for (const float label : labels) {
    const double distance = static_cast<double>(label) - sum / n;
    spread += distance * distance;
  }
  if (spread == 0) return squares == 0 ? 1.0 : 0.0;
  return 1 - squares / spread;
}

}  // namespace

bool IsRegressionMetric(std::string_view metric) { return Contains(kRegressionMetrics, metric); }

bool IsContainerMetric(std::string_view metric) {
  return IsRegressionMetric(metric) || Contains(kClassMetrics, metric) || metric == kRecallMicro;
}

std::vector<int> ClassesOf(const Predictions& margins) {
  std::vector<int> classes(margins.rows);
  for (std::size_t row = 0; row < margins.rows; ++row) {
    const float* const begin = margins.values.data() + row * margins.groups;
    classes[row] = margins.groups == 1
                       ? static_cast<int>(*begin > 0)
                       : static_cast<int>(std::max_element(begin, begin + margins.groups) - begin);
  }
  return classes;
}

Result<double> ContainerMetric(std::string_view metric, std::span<const float> labels,
                               const Predictions& predictions) {
  if (IsRegressionMetric(metric)) return RegressionMetric(metric, labels, predictions);
  ASSIGN_OR_RETURN(const Classes classes, CountClasses(metric, labels, ClassesOf(predictions)));
  return ClassMetric(metric, classes);
}

}  // namespace sabia::algorithms
