#include "algorithms/hyperparameters.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "algorithms/hyperparameter_rules.h"
#include "algorithms/hyperparameter_table.h"
#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

using Kind = HyperparameterKind;

struct Value {
  const HyperparameterSpec* spec = nullptr;
  std::string text;  // as the library reads it
  double number = 0;
};

std::string TextOf(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(View(*text));
  return json::serialize(value);
}

tl::unexpected<Error> Unparsable(const HyperparameterSpec& spec) {
  return Fail(ErrorCode::kInvalidArgument, "Hyperparameter {}: could not parse value", spec.name);
}

tl::unexpected<Error> OutOfRange(const HyperparameterSpec& spec, std::string_view shown,
                                 std::string_view range) {
  return Fail(ErrorCode::kInvalidArgument, "Hyperparameter {}: value {} not in range {}", spec.name,
              shown, range);
}

Result<Value> ReadNumber(const HyperparameterSpec& spec, std::string_view text) {
  if (spec.kind == Kind::kInteger) {
    const auto parsed = ParsePythonInt(text);
    if (!parsed) return Unparsable(spec);
    const std::string shown = fmt::format("{}", *parsed);
    const auto number = static_cast<double>(*parsed);
    if (!InRange(spec, number)) return OutOfRange(spec, shown, DescribeRange(spec));
    if (*parsed > std::numeric_limits<int>::max()) {
      return OutOfRange(spec, shown, fmt::format("[{}, 2147483647]", spec.min->value));
    }
    return Value{&spec, shown, number};
  }
  const auto parsed = ParsePythonFloat(text);
  if (!parsed) return Unparsable(spec);
  if (!InRange(spec, *parsed)) return OutOfRange(spec, PythonFloat(*parsed), DescribeRange(spec));
  return Value{&spec, std::string(Trim(text)), *parsed};
}

Result<Value> ReadList(const HyperparameterSpec& spec, std::string_view text) {
  const std::vector<std::string> items = SplitText(text, ',');
  for (const std::string& item : items) {
    bool known =
        std::find(spec.categories.begin(), spec.categories.end(), item) != spec.categories.end();
    if (!known && spec.name == "eval_metric") {
      ASSIGN_OR_RETURN(known, CheckMetricWithThreshold(item));
    }
    if (!known) return OutOfRange(spec, PythonList(items), PythonList(spec.categories));
  }
  return Value{&spec, std::string(text), 0};
}

Result<Value> ReadTuple(const HyperparameterSpec& spec, std::string_view text) {
  const auto values = ParseIntTuple(text);
  if (!values) return Unparsable(spec);
  const std::string shown = values->size() == 1 ? fmt::format("({},)", values->front())
                                                : fmt::format("({})", fmt::join(*values, ", "));
  for (const long long value : *values) {
    if (value < -1 || value > 1) return OutOfRange(spec, shown, "[-1, 0, 1]");
  }
  return Value{&spec, fmt::format("({})", fmt::join(*values, ",")), 0};
}

Result<Value> ReadNested(const HyperparameterSpec& spec, std::string_view text) {
  const auto lists = ParseNestedInts(text);
  if (!lists) return Unparsable(spec);
  std::vector<std::string> shown;
  for (const auto& list : *lists) shown.push_back(fmt::format("[{}]", fmt::join(list, ", ")));
  const std::string whole = fmt::format("[{}]", fmt::join(shown, ", "));
  for (const auto& list : *lists) {
    for (const long long value : list) {
      if (!InRange(spec, static_cast<double>(value))) {
        return OutOfRange(spec, whole, DescribeRange(spec));
      }
    }
  }
  return Value{&spec, whole, 0};
}

Result<Value> ReadValue(const HyperparameterSpec& spec, std::string_view text) {
  switch (spec.kind) {
    case Kind::kInteger:
    case Kind::kReal:
      return ReadNumber(spec, text);
    case Kind::kList:
      return ReadList(spec, text);
    case Kind::kTuple:
      return ReadTuple(spec, text);
    case Kind::kNested:
      return ReadNested(spec, text);
    case Kind::kCategory:
      break;
  }
  const auto& known = spec.categories;
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    return Fail(ErrorCode::kInvalidArgument, "Hyperparameter {}: {} is not in {}", spec.name, text,
                PythonList(known));
  }
  return Value{&spec, std::string(text), 0};
}

void StoreNumber(const Value& value, Hyperparameters* out) {
  const std::string_view name = value.spec->name;
  const int number = static_cast<int>(value.number);
  if (name == "num_round") out->num_round = number;
  if (name == "early_stopping_rounds") out->early_stopping_rounds = number;
  if (name == "csv_weights") out->csv_weights = number == 1;
  if (name == "_kfold") out->folds = number;
  if (name == "_num_cv_round") out->fold_rounds = number;
  if (name == "seed") out->seed = number;
  if (name == "nthread") out->threads = number;
  if (name == "num_class") out->num_class = number;
}

void Store(const Value& value, Hyperparameters* out) {
  const std::string_view name = value.spec->name;
  if (value.spec->kind == Kind::kInteger) StoreNumber(value, out);
  if (name == "save_model_on_termination") out->save_model_on_termination = value.text == "true";
  if (name == "objective") out->objective = value.text;
  if (name == "booster") out->booster = value.text;
  if (name == "tree_method") out->tree_method = value.text;
  if (name == "updater") out->updater = value.text;
  if (name == "eval_metric") out->eval_metrics = SplitText(value.text, ',');
  if (name == "_tuning_objective_metric")
    out->tuning_metric = value.text.substr(value.text.find(':') + 1);
  if (name == "subsample" || name.starts_with("colsample_")) {
    out->samples = out->samples || value.number < 1;
  }
  if (value.spec->for_library) out->library.emplace_back(name, value.text);
}

// What only a GPU can do is refused by name; this build of the algorithm runs on CPUs.
Status RefuseGpu(const Value& value) {
  const std::string_view name = value.spec->name;
  const bool gpu = value.text == "gpu_hist" || value.text == "gpu_predictor" ||
                   (name == "use_dask_gpu_training" && value.text == "true");
  if (!gpu) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "Hyperparameter {}: {} needs a GPU, which the built-in XGBoost does not use here; "
              "leave it out",
              name, value.text);
}

}  // namespace

Result<Hyperparameters> ReadHyperparameters(const json::object& document) {
  const bool has_rounds = document.contains("num_round");
  if (!has_rounds) {
    return Fail(ErrorCode::kInvalidArgument, "Missing required hyperparameter: num_round");
  }
  std::vector<Value> values;
  for (const auto& member : document) {
    const std::string_view key(member.key().data(), member.key().size());
    const HyperparameterSpec* spec = FindHyperparameter(ResolveAlias(key));
    if (!spec) {
      return Fail(ErrorCode::kInvalidArgument, "Extraneous hyperparameter found: {}", key);
    }
    ASSIGN_OR_RETURN(Value value, ReadValue(*spec, TextOf(member.value())));
    values.push_back(std::move(value));
  }
  Hyperparameters result;
  for (const Value& value : values) {
    RETURN_IF_ERROR(RefuseGpu(value));
    Store(value, &result);
  }
  RETURN_IF_ERROR(CheckHyperparameterRules(result));
  return result;
}

}  // namespace sabia::algorithms
