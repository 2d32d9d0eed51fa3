#include "algorithms/hyperparameter_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

constexpr std::array<std::string_view, 5> kTreeBuilders = {"grow_colmaker", "distcol",
                                                           "grow_histmaker", "grow_local_histmaker",
                                                           "grow_quantile_histmaker"};

bool IsLinear(const std::string& updater) {
  return updater == "shotgun" || updater == "coord_descent";
}

const std::string* Find(const Hyperparameters& values, std::string_view name) {
  for (const auto& [key, value] : values.library) {
    if (key == name) return &value;
  }
  return nullptr;
}

Status CheckUpdater(const Hyperparameters& values) {
  if (values.updater.empty()) return {};
  const std::vector<std::string> updaters = SplitText(values.updater, ',');
  if (values.booster == "gblinear") {
    if (updaters.size() == 1 && IsLinear(updaters[0])) return {};
    return Fail(ErrorCode::kInvalidArgument,
                "Linear updater should be one of these options: 'shotgun', 'coord_descent'.");
  }
  const std::string* process = Find(values, "process_type");
  if (process && *process == "update") {
    const bool fits = std::all_of(updaters.begin(), updaters.end(), [](const std::string& name) {
      return name == "refresh" || name == "prune";
    });
    if (fits) return {};
    return Fail(ErrorCode::kInvalidArgument,
                "process_type 'update' can only be used with updater 'refresh' and 'prune'");
  }
  if (std::any_of(updaters.begin(), updaters.end(), IsLinear)) {
    return Fail(ErrorCode::kInvalidArgument,
                "Tree updater should be selected from these options: 'grow_colmaker', 'distcol', "
                "'grow_histmaker', 'grow_local_histmaker', 'grow_skmaker', "
                "'grow_quantile_histmaker', 'sync', 'refresh', 'prune', 'shortgun', "
                "'coord_descent'.");
  }
  const auto builders =
      std::count_if(updaters.begin(), updaters.end(), [](const std::string& name) {
        return std::find(kTreeBuilders.begin(), kTreeBuilders.end(), name) != kTreeBuilders.end();
      });
  if (builders <= 1) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "Only one tree grow plugin can be selected. Choose one from the following: "
              "'grow_colmaker', 'distcol', 'grow_histmaker', 'grow_local_histmaker', "
              "'grow_skmaker'");
}

Status CheckObjective(const Hyperparameters& values) {
  const bool multi = values.objective.starts_with("multi:");
  if (multi && values.num_class == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "Require input for parameter 'num_class' for multi-classification");
  }
  if (!multi && values.num_class != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "Do not need to setup parameter 'num_class' for learning task other than "
                "multi-classification.");
  }
  return {};
}

Status CheckMetrics(const Hyperparameters& values) {
  const auto asked = [&](std::string_view metric) {
    return std::find(values.eval_metrics.begin(), values.eval_metrics.end(), metric) !=
           values.eval_metrics.end();
  };
  const std::string& objective = values.objective;
  if (asked("auc") && !objective.starts_with("binary:") && !objective.starts_with("rank:")) {
    return Fail(ErrorCode::kInvalidArgument,
                "Metric 'auc' can only be applied for classification and ranking problems.");
  }
  if (asked("aft-nloglik") && objective != "survival:aft") {
    return Fail(ErrorCode::kInvalidArgument,
                "Metric 'aft-nloglik' can only be applied for 'survival:aft' objective.");
  }
  return {};
}

Status CheckConstraints(const Hyperparameters& values) {
  const std::string* given = Find(values, "tree_method");
  const std::string method = given ? *given : "";
  const bool exact_or_hist = method == "exact" || method == "hist";
  if (Find(values, "monotone_constraints") && !exact_or_hist) {
    return Fail(ErrorCode::kInvalidArgument,
                "monotone_constraints can be used only when the tree_method parameter is set to "
                "either 'exact' or 'hist'.");
  }
  if (Find(values, "interaction_constraints") && !exact_or_hist && method != "approx") {
    return Fail(ErrorCode::kInvalidArgument,
                "interaction_constraints can be used only when the tree_method parameter is set "
                "to either 'exact', 'hist' or 'approx'.");
  }
  return {};
}

}  // namespace

Status CheckHyperparameterRules(const Hyperparameters& values) {
  RETURN_IF_ERROR(CheckUpdater(values));
  RETURN_IF_ERROR(CheckObjective(values));
  RETURN_IF_ERROR(CheckMetrics(values));
  return CheckConstraints(values);
}

Result<bool> CheckMetricWithThreshold(const std::string& metric) {
  if (metric.find("<function") != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                "User defined evaluation metric {} is not supported yet.", metric);
  }
  const std::size_t at = metric.find('@');
  if (at == std::string::npos) return false;
  const std::string name(Trim(std::string_view(metric).substr(0, at)));
  if (name != "error" && name != "ndcg" && name != "map") {
    return Fail(ErrorCode::kInvalidArgument,
                "Metric '{}' is not supported. Parameter 'eval_metric' with customized threshold "
                "should be one of these options: 'error', 'ndcg', 'map'.",
                metric);
  }
  if (!ParsePythonFloat(std::string_view(metric).substr(at + 1))) {
    return Fail(ErrorCode::kInvalidArgument, "Threshold value 't' in '{}@t' expects float input.",
                name);
  }
  return true;
}

}  // namespace sabia::algorithms
