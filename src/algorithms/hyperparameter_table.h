// The hyperparameters that the image knows: kinds, ranges and categories as data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabia::algorithms {

enum class HyperparameterKind {
  kInteger,
  kReal,
  kCategory,
  kList,    // comma separated, each from the categories
  kTuple,   // of -1, 0 and 1
  kNested,  // lists of lists of positive integers
};

struct Bound {
  double value = 0;
  bool open = false;  // the bound itself is outside
};

struct HyperparameterSpec {
  std::string_view name;
  HyperparameterKind kind = HyperparameterKind::kReal;
  std::optional<Bound> min = std::nullopt;
  std::optional<Bound> max = std::nullopt;
  std::span<const std::string_view> categories = {};
  bool for_library = true;  // false: read by the algorithm, not passed on to XGBoost
};

// Nullptr when the image has no such hyperparameter. Aliases (reg_lambda for lambda) are resolved
// first.
const HyperparameterSpec* FindHyperparameter(std::string_view name);
std::string_view ResolveAlias(std::string_view name);

// "[1, +inf)", "(0, 1]", as the image prints it.
std::string DescribeRange(const HyperparameterSpec& spec);
bool InRange(const HyperparameterSpec& spec, double value);

// Metrics that the image knows, the ones to maximise first.
std::span<const std::string_view> MetricsToMaximise();
std::span<const std::string_view> MetricsToMinimise();
// Both, in that order: what eval_metric may name.
std::span<const std::string_view> KnownMetrics();
// "validation:<metric>" of each: what _tuning_objective_metric may name.
std::span<const std::string_view> TuningMetrics();

}  // namespace sabia::algorithms
