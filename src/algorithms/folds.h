// Repeated k-fold splits of rows, with classes spread evenly when labels are classes.
//
// The shuffle depends on the seed alone, so that an interrupted job cuts the same folds again.
// Pure; any thread.
#pragma once

#include <span>
#include <vector>

namespace sabia::algorithms {

struct Fold {
  std::vector<int> train;  // rows in order
  std::vector<int> validation;
};

struct FoldOptions {
  int folds = 2;
  int repetitions = 1;
  int seed = 0;
  bool stratified = false;
};

// `folds` splits per repetition, one repetition after the other. REQUIRES: folds <= labels.size().
std::vector<Fold> SplitFolds(std::span<const float> labels, const FoldOptions& options);

}  // namespace sabia::algorithms
