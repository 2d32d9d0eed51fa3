#include "algorithms/prediction_program.h"

#include <unistd.h>

#include <cerrno>

#include "algorithms/booster.h"
#include "algorithms/load_channel.h"
#include "algorithms/machine.h"
#include "algorithms/python_text.h"
#include "env/posix/posix_files.h"

namespace sabia::algorithms {
namespace {

constexpr std::size_t kModelBytesMax = std::size_t{4} << 30;
constexpr std::size_t kRowsBytesMax = std::size_t{1} << 30;

Result<std::string> ReadInput(int fd) {
  std::string all;
  std::string block(1 << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read standard input");
    if (n == 0) return all;
    all.append(block.data(), static_cast<std::size_t>(n));
    if (all.size() > kRowsBytesMax) {
      return Fail(ErrorCode::kResourceExhausted, "standard input holds more than {} bytes",
                  kRowsBytesMax);
    }
  }
}

// A float as Python prints it: 9.0, 0.12345679.
std::string Shown(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

Result<Predictions> Predict(const XgboostApi& api, const std::string& model, DataTable rows) {
  ASSIGN_OR_RETURN(Booster booster, Booster::Create(api, {}));
  RETURN_IF_ERROR(booster.Load(model));
  ASSIGN_OR_RETURN(const std::size_t features, booster.Features());
  if (rows.columns > features || (!rows.sparse && rows.columns != features)) {
    return Fail(ErrorCode::kInvalidArgument,
                "Feature size of inference data {} is not consistent with feature size of trained "
                "model {}.",
                rows.columns, features);
  }
  rows.columns = features;
  const int threads = UsableCpus();
  RETURN_IF_ERROR(booster.Set("nthread", fmt::format("{}", threads)));
  ASSIGN_OR_RETURN(const Matrix matrix, Matrix::FromTable(api, rows, threads));
  ASSIGN_OR_RETURN(const int rounds, booster.Rounds());
  const auto best = ParsePythonInt(booster.Attribute("best_iteration").value_or(""));
  const bool cut = best && *best >= 0 && *best + 1 < rounds;
  return booster.Predict(matrix, {.rounds = cut ? static_cast<int>(*best) + 1 : 0});
}

}  // namespace

Result<PredictionOptions> ParsePredictionArguments(std::span<const std::string> args) {
  PredictionOptions options;
  for (std::size_t i = 0; i < args.size(); i += 2) {
    const bool known = args[i] == "--model" || args[i] == "--content-type";
    if (!known) return Fail(ErrorCode::kInvalidArgument, "unknown argument '{}'", args[i]);
    if (i + 1 == args.size()) return Fail(ErrorCode::kInvalidArgument, "{} needs a value", args[i]);
    if (args[i] == "--model") {
      options.model = args[i + 1];
    } else {
      ASSIGN_OR_RETURN(options.format, ParseContentType(args[i + 1]));
    }
  }
  if (options.model.empty()) return Fail(ErrorCode::kInvalidArgument, "--model is missing");
  return options;
}

Status RunPrediction(const XgboostContext& context, const PredictionOptions& options) {
  ASSIGN_OR_RETURN(const std::string model, context.files.Read(options.model, kModelBytesMax));
  ASSIGN_OR_RETURN(const XgboostApi api, OpenXgboost(context.libraries));
  ASSIGN_OR_RETURN(const std::string text, ReadInput(context.input));
  ASSIGN_OR_RETURN(DataTable rows, ReadRowsToPredict(text, options.format, UsableCpus()));
  if (rows.rows == 0) return {};
  ASSIGN_OR_RETURN(const Predictions predictions, Predict(api, model, std::move(rows)));
  std::string lines;
  for (std::size_t i = 0; i < predictions.values.size(); ++i) {
    lines += Shown(predictions.values[i]);
    lines += (i + 1) % predictions.groups == 0 ? '\n' : ',';
  }
  return env::WriteAll(context.output, lines);
}

}  // namespace sabia::algorithms
