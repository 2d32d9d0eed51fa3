#include "algorithms/fold_predictions.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabia::algorithms {

void FoldPredictions::Add(std::span<const int> rows, const Predictions& predictions) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const float* const begin = predictions.values.data() + i * predictions.groups;
    float value = *begin;
    if (classes_) {
      const float* const best = std::max_element(begin, begin + predictions.groups);
      int label = static_cast<int>(value > 0.5f);
      if (predicts_labels_) label = static_cast<int>(value);
      if (predictions.groups > 1) {
        label = static_cast<int>(best - begin);
        value = *best;
      }
      ++votes_[row][label];
    }
    sums_[row] += static_cast<double>(value);
    ++counts_[row];
  }
}

std::string FoldPredictions::ToCsv() const {
  std::string csv;
  for (std::size_t row = 0; row < labels_.size(); ++row) {
    csv += fmt::format("{:f},{:f}", labels_[row], sums_[row] / std::max(counts_[row], 1));
    if (classes_) {
      const auto winner =
          std::max_element(votes_[row].begin(), votes_[row].end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      csv += fmt::format(",{:f}",
                         static_cast<double>(winner == votes_[row].end() ? 0 : winner->first));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace sabia::algorithms
