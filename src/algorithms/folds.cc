#include "algorithms/folds.h"

#include <cstdint>
#include <map>
#include <numeric>

#include "env/random.h"

namespace sabia::algorithms {
namespace {

void Shuffle(std::vector<int>* rows, env::Random& random) {
  for (std::size_t i = rows->size(); i > 1; --i) {
    std::swap((*rows)[i - 1], (*rows)[static_cast<std::size_t>(random.Below(i))]);
  }
}

// The fold of each row: rows of a class are dealt out in turn, each class going on where the one
// before stopped.
std::vector<int> Deal(std::span<const float> labels, const FoldOptions& options,
                      env::Random& random) {
  std::map<float, std::vector<int>> classes;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    classes[options.stratified ? labels[row] : 0.0f].push_back(static_cast<int>(row));
  }
  std::vector<int> fold_of(labels.size());
  int next = 0;
  for (auto& [label, rows] : classes) {
    Shuffle(&rows, random);
    for (const int row : rows) {
      fold_of[static_cast<std::size_t>(row)] = next;
      next = (next + 1) % options.folds;
    }
  }
  return fold_of;
}

}  // namespace

std::vector<Fold> SplitFolds(std::span<const float> labels, const FoldOptions& options) {
  env::SeededRandom random(static_cast<std::uint32_t>(options.seed));
  std::vector<Fold> folds;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    const std::vector<int> fold_of = Deal(labels, options, random);
    for (int k = 0; k < options.folds; ++k) {
      Fold fold;
      for (std::size_t row = 0; row < fold_of.size(); ++row) {
        (fold_of[row] == k ? fold.validation : fold.train).push_back(static_cast<int>(row));
      }
      folds.push_back(std::move(fold));
    }
  }
  return folds;
}

}  // namespace sabia::algorithms
