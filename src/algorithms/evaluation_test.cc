#include "algorithms/evaluation.h"

#include <gtest/gtest.h>

#include "algorithms/early_stopping.h"

namespace sabia::algorithms {
namespace {

using Names = std::vector<std::string>;

Hyperparameters With(const Names& metrics, const std::string& tuning = "") {
  Hyperparameters values;
  values.eval_metrics = metrics;
  values.tuning_metric = tuning;
  return values;
}

TEST(PlanMetrics, SplitsNativeFromContainer) {
  const MetricPlan plan = PlanMetrics(With({"logloss", "accuracy", "auc", "rmse", "logloss"}));
  EXPECT_EQ(plan.native, (Names{"logloss", "auc"}));
  EXPECT_EQ(plan.container, (Names{"accuracy", "rmse"}));
  EXPECT_EQ(plan.early_stopping, "logloss");  // the last one named
}

TEST(PlanMetrics, TheTuningMetricComesInAndDecides) {
  const MetricPlan plan = PlanMetrics(With({"rmse", "mape"}, "mphe"));
  EXPECT_EQ(plan.native, (Names{"mape", "mphe"}));
  EXPECT_EQ(plan.early_stopping, "mphe");
  EXPECT_EQ(PlanMetrics(With({}, "auc")).native, Names{"auc"});
  EXPECT_EQ(PlanMetrics(With({})).early_stopping, "");
}

TEST(IsMaximised, FollowsTheImagesLists) {
  for (const char* metric : {"auc", "accuracy", "r2", "ndcg", "ndcg@5", "map@10"})
    EXPECT_TRUE(IsMaximised(metric));
  for (const char* metric : {"rmse", "error", "error@0.7", "logloss", "mae", ""})
    EXPECT_FALSE(IsMaximised(metric));
}

TEST(ParseScores, ReadsTheLibrarysLine) {
  const std::vector<EvaluationSet> sets = {{nullptr, "train", {}}, {nullptr, "validation", {}}};
  const auto scores = ParseScores("[7]\ttrain-aft-nloglik:1.25\tvalidation-error@0.5:nan", sets);
  ASSERT_TRUE(scores) << scores.error().message;
  ASSERT_EQ(scores->size(), 2u);
  EXPECT_EQ((*scores)[0].metric, "aft-nloglik");
  EXPECT_EQ((*scores)[0].value, 1.25);
  EXPECT_EQ((*scores)[1].set, "validation");
  EXPECT_EQ((*scores)[1].metric, "error@0.5");
  EXPECT_EQ(RoundLine(7, *scores), "[7]\ttrain-aft-nloglik:1.25000\tvalidation-error@0.5:nan");
  EXPECT_EQ(ParseScores("[7]\ttest-rmse:1", sets).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseScores("[7]\ttrain-rmse", sets).error().code, ErrorCode::kCorrupt);
}

TEST(EarlyStopping, StopsWhenPatienceIsOver) {
  EarlyStopping stopping(2, false);
  EXPECT_TRUE(stopping.Observe(0, 3.0));
  EXPECT_TRUE(stopping.Observe(1, 2.0));
  EXPECT_FALSE(stopping.Observe(2, 2.0));  // equal is no improvement
  EXPECT_FALSE(stopping.ShouldStop(2));
  EXPECT_FALSE(stopping.Observe(3, 2.5));
  EXPECT_TRUE(stopping.ShouldStop(3));
  EXPECT_EQ(stopping.best()->round, 1);
}

TEST(EarlyStopping, GoesOnFromARestoredState) {
  EarlyStopping stopping(3, true);
  EXPECT_FALSE(stopping.ShouldStop(100));  // nothing seen yet
  stopping.Restore({4, 0.9});
  EXPECT_FALSE(stopping.Observe(5, 0.8));
  EXPECT_TRUE(stopping.ShouldStop(7));
  EXPECT_TRUE(stopping.Observe(6, 0.95));
}

}  // namespace
}  // namespace sabia::algorithms
