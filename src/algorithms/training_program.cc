#include "algorithms/training_program.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/channel_config.h"
#include "algorithms/checkpoints.h"
#include "algorithms/cross_validation.h"
#include "algorithms/data_files.h"
#include "algorithms/hyperparameters.h"
#include "algorithms/load_channel.h"
#include "algorithms/machine.h"
#include "algorithms/trainer.h"

namespace sabia::algorithms {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelName = "xgboost-model";
constexpr std::size_t kConfigBytesMax = 1 << 20;

// A file of input/config; an absent optional one is an empty object.
Result<json::object> ReadConfig(const XgboostContext& context, const std::string& name,
                                bool required) {
  const fs::path path = context.root / "input/config" / name;
  auto text = context.files.Read(path, kConfigBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound && !required) return json::object();
  if (!text) return Wrap(std::move(text).error(), "failed to read " + name);
  auto object = ParseJsonObject(*text);
  if (!object) return Wrap(std::move(object).error(), "failed to read " + name);
  return object;
}

class TrainingProgram {
 public:
  TrainingProgram(const XgboostContext& context, JobLog& log) : context_(context), log_(log) {}

  Result<ProgramEnd> Run() {
    log_.Info("Imported framework sagemaker_xgboost_container.training");
    log_.Info("Running XGBoost Sagemaker in algorithm mode");
    RETURN_IF_ERROR(ReadConfiguration());
    ASSIGN_OR_RETURN(const XgboostApi api, OpenXgboost(context_.libraries));
    RouteLibraryLog(api, &log_);
    auto end = LoadAndTrain(api);
    RouteLibraryLog(api, nullptr);
    return end;
  }

 private:
  struct Channel {
    std::vector<float> labels;
    Matrix matrix;
  };

  Status ReadConfiguration() {
    ASSIGN_OR_RETURN(const json::object given, ReadConfig(context_, "hyperparameters.json", true));
    ASSIGN_OR_RETURN(values_, ReadHyperparameters(given));
    ASSIGN_OR_RETURN(const json::object channels,
                     ReadConfig(context_, "inputdataconfig.json", true));
    ASSIGN_OR_RETURN(channels_, ReadChannelConfig(channels));
    ASSIGN_OR_RETURN(const json::object resources,
                     ReadConfig(context_, "resourceconfig.json", false));
    const json::array* hosts = FindArray(resources, "hosts");
    if (hosts && hosts->size() > 1) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "distributed training of the built-in XGBoost over {} hosts is not available; use one "
          "instance",
          hosts->size());
    }
    ASSIGN_OR_RETURN(const json::object checkpoints,
                     ReadConfig(context_, "checkpointconfig.json", false));
    if (checkpoints.contains("LocalPath"))
      checkpoints_ = LocalPath(GetString(checkpoints, "LocalPath"));
    return {};
  }

  // A path of the contract under the root: they are the same in a sandbox, where the root is
  // /opt/ml.
  fs::path LocalPath(const std::string& path) const {
    constexpr std::string_view kContractRoot = "/opt/ml/";
    if (!path.starts_with(kContractRoot)) return path;
    return context_.root / path.substr(kContractRoot.size());
  }

  Result<ProgramEnd> LoadAndTrain(const XgboostApi& api) {
    threads_ = values_.threads.value_or(UsableCpus());
    RETURN_IF_ERROR(WarnOfDuplicates());
    ASSIGN_OR_RETURN(DataTable train, Load("train"));
    DataTable validation;
    if (channels_.validation) {
      ASSIGN_OR_RETURN(validation, Load("validation"));
    }
    if (train.rows == 0) return NoData("training", "train");
    if (channels_.validation && validation.rows == 0) return NoData("validation", "validation");
    if (!values_.tuning_metric.empty()) {
      log_.Info("Setting up HPO optimized metric to be : {}", values_.tuning_metric);
    }
    log_.Info("Single node training.");
    log_.Info("Train matrix has {} rows and {} columns", train.rows, train.columns);
    if (channels_.validation) log_.Info("Validation matrix has {} rows", validation.rows);
    return values_.folds ? TrainFolds(api, std::move(train), std::move(validation))
                         : TrainOnce(api, std::move(train), std::move(validation));
  }

  tl::unexpected<Error> NoData(std::string_view kind, std::string_view channel) const {
    return Fail(ErrorCode::kInvalidArgument, "No data in {} channel path {}", kind,
                (DataRoot() / channel).string());
  }

  fs::path DataRoot() const { return context_.root / "input/data"; }

  Result<DataTable> Load(std::string_view channel) {
    return LoadChannel(DataRoot(), channel,
                       {.format = channels_.format,
                        .pipe = channels_.pipe,
                        .csv_weights = values_.csv_weights,
                        .threads = threads_},
                       log_);
  }

  Status WarnOfDuplicates() {
    if (!channels_.validation || channels_.pipe) return {};
    ASSIGN_OR_RETURN(const auto train, ListDataFiles(DataRoot() / "train"));
    ASSIGN_OR_RETURN(const auto validation, ListDataFiles(DataRoot() / "validation"));
    for (const std::string& name : SuspectedDuplicates(train, validation)) {
      log_.Warning(
          "The file '{}' has the same name and size in the channels train and validation. Scores "
          "on rows "
          "that were trained on say little.",
          name);
    }
    return {};
  }

  // The matrix of a table; the table's own copy of the features is given back first thing after.
  Result<Channel> ToChannel(const XgboostApi& api, DataTable table) const {
    ASSIGN_OR_RETURN(Matrix matrix, Matrix::FromTable(api, table, threads_));
    return Channel{std::move(table.labels), std::move(matrix)};
  }

  Status KeepModel(const std::string& name, const std::string& model, env::Durability durability) {
    RETURN_IF_ERROR(context_.files.MakeDirectories(context_.root / "model"));
    return context_.files.WriteAtomically(context_.root / "model" / name, model,
                                          {.durability = durability});
  }

  // What SIGTERM leaves: with save_model_on_termination the models so far and nothing else in
  // model/.
  ProgramEnd Ended() {
    log_.Info("SIGTERM: training ends after this round");
    if (!values_.save_model_on_termination) return ProgramEnd::kEnded;
    std::error_code error;
    for (fs::directory_iterator at(context_.root / "model", error), end; !error && at != end;
         at.increment(error)) {
      std::error_code ignored;
      const bool model = at->path().filename().string().starts_with(kModelName);
      if (!model && at->is_regular_file(ignored)) fs::remove(at->path(), ignored);
    }
    return ProgramEnd::kEndedWithModel;
  }

  Result<ProgramEnd> TrainOnce(const XgboostApi& api, DataTable train, DataTable validation) {
    const bool validates = validation.rows > 0;
    ASSIGN_OR_RETURN(const Channel train_channel, ToChannel(api, std::move(train)));
    std::optional<Channel> validation_channel;
    if (validates) {
      ASSIGN_OR_RETURN(Channel channel, ToChannel(api, std::move(validation)));
      validation_channel.emplace(std::move(channel));
    }
    const Termination termination;
    std::optional<Checkpoints> checkpoints;
    if (checkpoints_) checkpoints.emplace(*checkpoints_, log_);
    TrainingRun run{.api = api,
                    .values = values_,
                    .train = train_channel.matrix,
                    .sets = {{&train_channel.matrix, "train", train_channel.labels}},
                    .threads = threads_,
                    .checkpoints = checkpoints ? &*checkpoints : nullptr,
                    .after_round = {},
                    .stop_requested = [&] { return termination.requested(); },
                    .log = log_};
    if (validates) {
      run.sets.push_back({&validation_channel->matrix, "validation", validation_channel->labels});
    } else if (values_.early_stopping_rounds) {
      log_.Warning("early_stopping_rounds has no effect without a validation channel");
    }
    if (values_.save_model_on_termination) {
      run.after_round = [&](const std::string& model) {
        return KeepModel(kModelName, model, env::Durability::kVolatile);
      };
    }
    ASSIGN_OR_RETURN(TrainingResult result, Train(run));
    if (result.interrupted) return Ended();
    ASSIGN_OR_RETURN(const std::string model, result.booster.Save());
    RETURN_IF_ERROR(KeepModel(kModelName, model, env::Durability::kDurable));
    return ProgramEnd::kDone;
  }

  Result<ProgramEnd> TrainFolds(const XgboostApi& api, DataTable train, DataTable validation) {
    if (validation.rows > 0) {
      log_.Info("Read both train and validation data into one DMatrix");
      RETURN_IF_ERROR(AppendRows(std::move(validation), &train));
    }
    ASSIGN_OR_RETURN(const Channel all, ToChannel(api, std::move(train)));
    const Termination termination;
    const CrossValidation job{.api = api,
                              .values = values_,
                              .data = all.matrix,
                              .labels = all.labels,
                              .threads = threads_,
                              .checkpoints = checkpoints_.value_or(fs::path()),
                              .keep =
                                  [&](int fold, const std::string& model) {
                                    return KeepModel(fmt::format("{}-{}", kModelName, fold), model,
                                                     env::Durability::kVolatile);
                                  },
                              .stop_requested = [&] { return termination.requested(); },
                              .log = log_};
    ASSIGN_OR_RETURN(const CrossValidationResult result, CrossValidate(job));
    if (result.interrupted) return Ended();
    const fs::path output = context_.root / "output/data";
    log_.Info("Storing predictions on validation set(s) in {}",
              (output / "predictions.csv").string());
    RETURN_IF_ERROR(context_.files.MakeDirectories(output));
    RETURN_IF_ERROR(
        context_.files.WriteAtomically(output / "predictions.csv", result.predictions_csv, {}));
    return ProgramEnd::kDone;
  }

  const XgboostContext& context_;
  JobLog& log_;
  Hyperparameters values_;
  ChannelConfig channels_;
  std::optional<fs::path> checkpoints_;
  int threads_ = 1;
};

}  // namespace

Result<ProgramEnd> RunTraining(const XgboostContext& context, JobLog& log) {
  return TrainingProgram(context, log).Run();
}

std::string FailureText(const Error& error) {
  std::string_view kind = "AlgorithmError";
  if (error.code == ErrorCode::kInvalidArgument) kind = "UserError";
  if (error.code == ErrorCode::kUnavailable) kind = "PlatformError";
  return fmt::format("framework error: \nsagemaker_algorithm_toolkit.exceptions.{}: {}", kind,
                     error.message);
}

}  // namespace sabia::algorithms
