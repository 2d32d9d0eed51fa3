// Predictions on held-out rows, gathered over folds and repetitions: predictions.csv of a k-fold
// job.
//
// Columns, each "%f": the label, then for classes the mean probability and the label most votes
// went to (the smallest on a tie), otherwise the mean prediction. Pure; thread-compatible.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "algorithms/booster.h"

namespace sabia::algorithms {

class FoldPredictions {
 public:
  FoldPredictions(std::span<const float> labels, bool classes, bool predicts_labels)
      : labels_(labels.begin(), labels.end()),
        classes_(classes),
        predicts_labels_(predicts_labels),
        sums_(labels.size()),
        counts_(labels.size()),
        votes_(classes ? labels.size() : 0) {}

  // `rows` of the whole data, in the order of the predictions.
  void Add(std::span<const int> rows, const Predictions& predictions);
  std::string ToCsv() const;

 private:
  std::vector<float> labels_;
  bool classes_;
  bool predicts_labels_;  // multi:softmax: the prediction is the class itself
  std::vector<double> sums_;
  std::vector<int> counts_;
  std::vector<std::map<int, int>> votes_;
};

}  // namespace sabia::algorithms
