#include "model/builtin_metrics.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sabia::model {
namespace {

constexpr std::array kXgboostMetrics = {"accuracy",
                                        "aft-nloglik",
                                        "auc",
                                        "aucpr",
                                        "balanced_accuracy",
                                        "cox-nloglik",
                                        "error",
                                        "f1",
                                        "f1_binary",
                                        "f1_macro",
                                        "gamma-deviance",
                                        "gamma-nloglik",
                                        "interval-regression-accuracy",
                                        "logloss",
                                        "mae",
                                        "map",
                                        "mape",
                                        "merror",
                                        "mlogloss",
                                        "mphe",
                                        "mse",
                                        "ndcg",
                                        "poisson-nloglik",
                                        "precision",
                                        "precision_macro",
                                        "precision_micro",
                                        "r2",
                                        "recall",
                                        "recall_macro",
                                        "recall_micro",
                                        "rmse",
                                        "rmsle",
                                        "tweedie-nloglik"};

}  // namespace

std::vector<MetricDefinition> XgboostMetricDefinitions() {
  std::vector<MetricDefinition> definitions;
  for (const std::string_view channel : {"train", "validation"}) {
    for (const std::string_view metric : kXgboostMetrics) {
      definitions.push_back({fmt::format("{}:{}", channel, metric),
                             fmt::format(R"(.*\[[0-9]+\].*#011{}-{}:(\S+))", channel, metric)});
    }
  }
  return definitions;
}

}  // namespace sabia::model
