#include "algorithms/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "algorithms/fold_predictions.h"

namespace sabia::algorithms {
namespace {

TEST(SplitFolds, EachRowIsHeldOutOncePerRepetition) {
  const std::vector<float> labels(23);
  const auto folds = SplitFolds(labels, {.folds = 4, .repetitions = 3, .seed = 5});
  ASSERT_EQ(folds.size(), 12u);
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<int> seen;
    for (int k = 0; k < 4; ++k) {
      const Fold& fold = folds[static_cast<std::size_t>(4 * repetition + k)];
      EXPECT_EQ(fold.train.size() + fold.validation.size(), 23u);
      EXPECT_GE(fold.validation.size(), 5u);
      seen.insert(seen.end(), fold.validation.begin(), fold.validation.end());
    }
    std::sort(seen.begin(), seen.end());
    std::vector<int> all(23);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
  }
  EXPECT_NE(folds[0].validation, folds[4].validation);  // repetitions shuffle anew
}

TEST(SplitFolds, TheSeedDecides) {
  const std::vector<float> labels(50);
  const auto a = SplitFolds(labels, {.folds = 5, .seed = 1});
  const auto b = SplitFolds(labels, {.folds = 5, .seed = 1});
  const auto c = SplitFolds(labels, {.folds = 5, .seed = 2});
  EXPECT_EQ(a[3].validation, b[3].validation);
  EXPECT_NE(a[3].validation, c[3].validation);
}

TEST(SplitFolds, StratifiedFoldsHoldEachClass) {
  std::vector<float> labels(40);
  for (std::size_t i = 0; i < 8; ++i) labels[i] = 1;
  for (const Fold& fold : SplitFolds(labels, {.folds = 4, .seed = 3, .stratified = true})) {
    const auto ones = std::count_if(fold.validation.begin(), fold.validation.end(),
                                    [](int row) { return row < 8; });
    EXPECT_EQ(ones, 2);
    EXPECT_EQ(fold.validation.size(), 10u);
  }
}

TEST(FoldPredictions, RegressionIsTheMean) {
  FoldPredictions predictions(std::vector<float>{10, 20}, false, false);
  predictions.Add(std::vector<int>{1}, {1, 1, {21}});
  predictions.Add(std::vector<int>{0}, {1, 1, {9}});
  predictions.Add(std::vector<int>{0, 1}, {2, 1, {10, 22}});
  EXPECT_EQ(predictions.ToCsv(), "10.000000,9.500000\n20.000000,21.500000\n");
}

TEST(FoldPredictions, ClassesVote) {
  FoldPredictions binary(std::vector<float>{1}, true, false);
  for (const float p : {0.4f, 0.3f, 0.8f}) binary.Add(std::vector<int>{0}, {1, 1, {p}});
  EXPECT_EQ(binary.ToCsv(), "1.000000,0.500000,0.000000\n");
  FoldPredictions several(std::vector<float>{2}, true, false);
  several.Add(std::vector<int>{0}, {1, 3, {0.2f, 0.2f, 0.6f}});
  EXPECT_EQ(several.ToCsv(), "2.000000,0.600000,2.000000\n");
  FoldPredictions labels(std::vector<float>{2}, true, true);
  labels.Add(std::vector<int>{0}, {1, 1, {2}});
  EXPECT_EQ(labels.ToCsv(), "2.000000,2.000000,2.000000\n");
}

}  // namespace
}  // namespace sabia::algorithms
