#include "algorithms/hyperparameter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sabia::algorithms {
namespace {

using Kind = HyperparameterKind;
using Names = std::string_view[];

constexpr std::array<std::string_view, 33> kMetrics = {
    "accuracy", "auc", "aucpr", "balanced_accuracy", "f1", "f1_binary", "f1_macro", "map", "ndcg",
    "precision", "r2", "recall", "precision_macro", "precision_micro", "recall_macro",
    "recall_micro",
    // To minimise:
    "aft-nloglik", "cox-nloglik", "error", "gamma-deviance", "gamma-nloglik",
    "interval-regression-accuracy", "logloss", "mae", "mape", "merror", "mlogloss", "mphe", "mse",
    "poisson-nloglik", "rmse", "rmsle", "tweedie-nloglik"};
constexpr std::size_t kMaximised = 16;

constexpr Names kBoosters = {"gbtree", "gblinear", "dart"};
constexpr Names kTreeMethods = {"auto", "exact", "approx", "hist", "gpu_hist"};
constexpr Names kUpdaters = {"grow_colmaker",  "distcol",
                             "grow_histmaker", "grow_local_histmaker",
                             "grow_skmaker",   "grow_quantile_histmaker",
                             "sync",           "refresh",
                             "prune",          "shotgun",
                             "coord_descent"};
constexpr Names kSplits = {"row", "col"};
constexpr Names kProcessTypes = {"default", "update"};
constexpr Names kGrowPolicies = {"depthwise", "lossguide"};
constexpr Names kPredictors = {"auto", "cpu_predictor", "gpu_predictor"};
constexpr Names kSampleTypes = {"uniform", "weighted"};
constexpr Names kNormalizeTypes = {"tree", "forest"};
constexpr Names kSamplingMethods = {"uniform", "gradient_based"};
constexpr Names kDistributions = {"normal", "logistic", "extreme"};
constexpr Names kBooleans = {"true", "false"};
constexpr Names kObjectives = {
    "binary:logistic", "binary:logitraw",      "binary:hinge",        "count:poisson",
    "multi:softmax",   "multi:softprob",       "rank:pairwise",       "rank:ndcg",
    "rank:map",        "reg:linear",           "reg:squarederror",    "reg:logistic",
    "reg:gamma",       "reg:pseudohubererror", "reg:squaredlogerror", "reg:absoluteerror",
    "reg:tweedie",     "survival:aft",         "survival:cox"};

constexpr Bound Closed(double value) { return {value, false}; }
constexpr Bound Open(double value) { return {value, true}; }

using Table = std::vector<HyperparameterSpec>;

HyperparameterSpec Integer(std::string_view name, double min, std::optional<Bound> max = {}) {
  return {.name = name, .kind = Kind::kInteger, .min = Closed(min), .max = max};
}

HyperparameterSpec Real(std::string_view name, Bound min, std::optional<Bound> max = {}) {
  return {.name = name, .kind = Kind::kReal, .min = min, .max = max};
}

HyperparameterSpec OneOf(std::string_view name, std::span<const std::string_view> values) {
  return {.name = name, .kind = Kind::kCategory, .categories = values};
}

// What the algorithm reads itself.
Table OwnTable() {
  constexpr double kInt32 = 2147483648.0;
  Table table = {
      Integer("num_round", 1),
      Integer("csv_weights", 0, Closed(1)),
      Integer("early_stopping_rounds", 1),
      Integer("_kfold", 2),
      Integer("_num_cv_round", 1),
      Integer("nthread", 1),
      {.name = "seed", .kind = Kind::kInteger, .min = Open(-kInt32), .max = Open(kInt32 - 1)},
      OneOf("_tuning_objective_metric", TuningMetrics()),
      {.name = "eval_metric", .kind = Kind::kList, .categories = KnownMetrics()},
      OneOf("save_model_on_termination", kBooleans),
      OneOf("use_dask_gpu_training", kBooleans),
  };
  for (HyperparameterSpec& spec : table) spec.for_library = false;
  return table;
}

Table NumberTable() {
  return {
      Integer("verbosity", 0, Closed(3)),
      Integer("max_depth", 0),
      Integer("refresh_leaf", 0, Closed(1)),
      Integer("max_leaves", 0),
      Integer("max_bin", 0),
      Integer("one_drop", 0, Closed(1)),
      Integer("num_class", 2),
      Integer("num_parallel_tree", 1),
      Real("eta", Closed(0), Closed(1)),
      Real("gamma", Closed(0)),
      Real("min_child_weight", Closed(0)),
      Real("max_delta_step", Closed(0)),
      Real("subsample", Open(0), Closed(1)),
      Real("colsample_bytree", Open(0), Closed(1)),
      Real("colsample_bylevel", Open(0), Closed(1)),
      Real("colsample_bynode", Open(0), Closed(1)),
      Real("lambda", Closed(0)),
      Real("alpha", Closed(0)),
      Real("sketch_eps", Open(0), Open(1)),
      Real("scale_pos_weight", Open(0)),
      Real("rate_drop", Closed(0), Closed(1)),
      Real("skip_drop", Closed(0), Closed(1)),
      Real("lambda_bias", Closed(0), Closed(1)),
      Real("tweedie_variance_power", Open(1), Open(2)),
      Real("base_score", Closed(0)),
      Real("aft_loss_distribution_scale", Closed(0)),
      Real("prob_buffer_row", Open(1)),
  };
}

Table NameTable() {
  return {
      OneOf("booster", kBoosters),
      OneOf("tree_method", kTreeMethods),
      OneOf("dsplit", kSplits),
      OneOf("process_type", kProcessTypes),
      OneOf("grow_policy", kGrowPolicies),
      OneOf("predictor", kPredictors),
      OneOf("sample_type", kSampleTypes),
      OneOf("normalize_type", kNormalizeTypes),
      OneOf("objective", kObjectives),
      OneOf("aft_loss_distribution", kDistributions),
      OneOf("deterministic_histogram", kBooleans),
      OneOf("sampling_method", kSamplingMethods),
      {.name = "updater", .kind = Kind::kList, .categories = kUpdaters},
      {.name = "monotone_constraints", .kind = Kind::kTuple},
      {.name = "interaction_constraints", .kind = Kind::kNested, .min = Closed(1)},
  };
}

Table WholeTable() {
  Table table = OwnTable();
  for (const Table& part : {NumberTable(), NameTable()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace

const HyperparameterSpec* FindHyperparameter(std::string_view name) {
  static const Table kTable = WholeTable();
  const auto at = std::find_if(kTable.begin(), kTable.end(),
                               [&](const HyperparameterSpec& spec) { return spec.name == name; });
  return at == kTable.end() ? nullptr : &*at;
}

std::string_view ResolveAlias(std::string_view name) {
  if (name == "learning_rate") return "eta";
  if (name == "min_split_loss") return "gamma";
  if (name == "reg_lambda") return "lambda";
  if (name == "reg_alpha") return "alpha";
  return name;
}

std::string DescribeRange(const HyperparameterSpec& spec) {
  const auto number = [](double value) { return fmt::format("{}", value); };
  std::string text = "(-inf, ";
  if (spec.min) text = (spec.min->open ? "(" : "[") + number(spec.min->value) + ", ";
  if (!spec.max) return text + "+inf)";
  return text + number(spec.max->value) + (spec.max->open ? ")" : "]");
}

bool InRange(const HyperparameterSpec& spec, double value) {
  if (value != value) return false;  // NaN
  if (spec.min && (spec.min->open ? value <= spec.min->value : value < spec.min->value)) {
    return false;
  }
  return !(spec.max && (spec.max->open ? value >= spec.max->value : value > spec.max->value));
}

std::span<const std::string_view> MetricsToMaximise() {
  return std::span(kMetrics).first(kMaximised);
}
std::span<const std::string_view> MetricsToMinimise() {
  return std::span(kMetrics).subspan(kMaximised);
}
std::span<const std::string_view> KnownMetrics() { return kMetrics; }

std::span<const std::string_view> TuningMetrics() {
  static const std::vector<std::string> kTexts = [] {
    std::vector<std::string> texts;
    for (const std::string_view metric : kMetrics)
      texts.push_back("validation:" + std::string(metric));
    return texts;
  }();
  static const std::vector<std::string_view> kViews(kTexts.begin(), kTexts.end());
  return kViews;
}

}  // namespace sabia::algorithms
