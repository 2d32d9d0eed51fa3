#include "algorithms/container_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sabia::algorithms {
namespace {

// Margins whose largest per row is the given class.
Predictions OfClasses(const std::vector<int>& classes, std::size_t groups) {
  Predictions result{classes.size(), groups, std::vector<float>(classes.size() * groups)};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (groups == 1) {
      result.values[i] = classes[i] == 1 ? 0.1f : -0.1f;
    } else {
      result.values[i * groups + static_cast<std::size_t>(classes[i])] = 1;
    }
  }
  return result;
}

void Expect(const std::vector<float>& labels, const Predictions& predictions,
            const std::vector<std::pair<const char*, double>>& facts) {
  for (const auto& [metric, value] : facts) {
    const auto got = ContainerMetric(metric, labels, predictions);
    ASSERT_TRUE(got) << metric << ": " << got.error().message;
    EXPECT_NEAR(*got, value, 1e-12) << metric;
  }
}

// The values are those of scikit-learn 1.2.2 for the same labels.
TEST(ContainerMetrics, BinaryAsScikitLearn) {
  Expect({0, 1, 1, 0, 1, 1}, OfClasses({0, 1, 0, 1, 1, 0}, 1),
         {{"accuracy", 0.5},
          {"balanced_accuracy", 0.5},
          {"f1", 0.48571428571428577},
          {"f1_macro", 0.48571428571428577},
          {"f1_binary", 0.5714285714285715},
          {"precision", 0.6666666666666666},
          {"precision_macro", 0.5},
          {"precision_micro", 0.5},
          {"recall", 0.5},
          {"recall_macro", 0.5},
          {"recall_micro", 0.5}});
}

// Class 3 is never predicted, so its precision is 0; every class that occurs counts.
TEST(ContainerMetrics, MulticlassAsScikitLearn) {
  Expect({0, 1, 2, 2, 1, 0, 3}, OfClasses({0, 2, 2, 2, 1, 1, 0}, 4),
         {{"accuracy", 0.5714285714285714},
          {"balanced_accuracy", 0.5},
          {"f1", 0.45},
          {"precision_macro", 0.41666666666666663},
          {"recall_macro", 0.5}});
}

TEST(ContainerMetrics, RegressionAsScikitLearn) {
  Expect({3, -0.5f, 2, 7}, {4, 1, {2.5f, 0, 2, 8}},
         {{"mse", 0.375}, {"rmse", 0.6123724356957945}, {"mae", 0.5}, {"r2", 0.9486081370449679}});
}

TEST(ContainerMetrics, R2OfConstantLabels) {
  Expect({2, 2}, {2, 1, {2, 2}}, {{"r2", 1.0}});
  Expect({2, 2}, {2, 1, {2, 3}}, {{"r2", 0.0}});
  EXPECT_TRUE(std::isnan(*ContainerMetric("r2", std::vector<float>{2}, {1, 1, {2}})));
}

TEST(ContainerMetrics, RefusesWhatDoesNotFit) {
  const auto binary =
      ContainerMetric("f1_binary", std::vector<float>{0, 1, 2}, OfClasses({0, 1, 2}, 3));
  EXPECT_TRUE(binary.error().message.starts_with("Target is multiclass but average='binary'."));
  const auto continuous = ContainerMetric("accuracy", std::vector<float>{0.5f}, OfClasses({0}, 1));
  EXPECT_EQ(continuous.error().message,
            "Metric 'accuracy' compares classes, but a label is 0.5: classification metrics need "
            "whole numbers");
  EXPECT_FALSE(ContainerMetric("mse", std::vector<float>{1}, OfClasses({0}, 3)));
}

TEST(ContainerMetrics, KnowsItsOwn) {
  EXPECT_TRUE(IsContainerMetric("recall_micro"));
  EXPECT_TRUE(IsContainerMetric("rmse"));
  EXPECT_FALSE(IsContainerMetric("auc"));
  EXPECT_TRUE(IsRegressionMetric("r2"));
  EXPECT_FALSE(IsRegressionMetric("f1"));
}

}  // namespace
}  // namespace sabia::algorithms
