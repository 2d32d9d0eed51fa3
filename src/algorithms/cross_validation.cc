#include "algorithms/cross_validation.h"

#include <array>
#include <optional>

#include "algorithms/fold_predictions.h"
#include "algorithms/folds.h"

namespace sabia::algorithms {
namespace {

using FoldScores = std::vector<std::vector<Score>>;

// "[100]\ttrain-rmse:…\tvalidation-rmse:…": per metric the mean over folds, training first.
std::string MeanLine(int num_round, const FoldScores& folds, std::size_t first) {
  std::string line = fmt::format("[{}]", num_round);
  for (const Score& named : folds[first]) {
    if (named.set != "train") continue;
    for (const char* const set : {"train", "validation"}) {
      double sum = 0;
      for (std::size_t fold = first; fold < folds.size(); ++fold) {
        for (const Score& score : folds[fold]) {
          if (score.set == set && score.metric == named.metric) sum += score.value;
        }
      }
      line += fmt::format("\t{}-{}:{:.5f}", set, named.metric,
                          sum / static_cast<double>(folds.size() - first));
    }
  }
  return line;
}

std::vector<float> LabelsOf(std::span<const float> labels, const std::vector<int>& rows) {
  std::vector<float> result;
  result.reserve(rows.size());
  for (const int row : rows) result.push_back(labels[static_cast<std::size_t>(row)]);
  return result;
}

struct FoldResult {
  bool interrupted = false;
  std::vector<Score> scores;
};

Result<FoldResult> TrainFold(const CrossValidation& job, int number, const Fold& fold,
                             FoldPredictions* predictions) {
  ASSIGN_OR_RETURN(const Matrix train, job.data.Slice(fold.train));
  ASSIGN_OR_RETURN(const Matrix validation, job.data.Slice(fold.validation));
  const std::vector<float> train_labels = LabelsOf(job.labels, fold.train);
  const std::vector<float> validation_labels = LabelsOf(job.labels, fold.validation);
  std::optional<Checkpoints> checkpoints;
  if (!job.checkpoints.empty()) {
    checkpoints.emplace(job.checkpoints / fmt::format("model-{}", number), job.log);
  }
  TrainingRun run{
      .api = job.api,
      .values = job.values,
      .train = train,
      .sets = {{&train, "train", train_labels}, {&validation, "validation", validation_labels}},
      .threads = job.threads,
      .checkpoints = checkpoints ? &*checkpoints : nullptr,
      .after_round = {},
      .stop_requested = job.stop_requested,
      .log = job.log};
  if (job.values.save_model_on_termination) {
    run.after_round = [&](const std::string& model) { return job.keep(number, model); };
  }
  ASSIGN_OR_RETURN(TrainingResult result, Train(run));
  if (result.interrupted) return FoldResult{true, {}};
  ASSIGN_OR_RETURN(const std::string model, result.booster.Save());
  RETURN_IF_ERROR(job.keep(number, model));
  ASSIGN_OR_RETURN(const Predictions held_out, result.booster.Predict(validation, {}));
  predictions->Add(fold.validation, held_out);
  return FoldResult{false, std::move(result.scores)};
}

}  // namespace

Result<CrossValidationResult> CrossValidate(const CrossValidation& job) {
  const int folds = *job.values.folds;
  const int repetitions = job.values.fold_rounds;
  if (static_cast<std::size_t>(folds) > job.labels.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "Cannot have number of splits n_splits={} greater than the number of samples: "
                "n_samples={}.",
                folds, job.labels.size());
  }
  job.log.Info("Run {}-round of {}-fold cross validation with {} rows", repetitions, folds,
               job.labels.size());
  const bool classes = job.values.num_class > 0 || job.values.objective.starts_with("binary:");
  const std::vector<Fold> splits = SplitFolds(
      job.labels,
      {.folds = folds, .repetitions = repetitions, .seed = job.values.seed, .stratified = classes});
  FoldPredictions predictions(job.labels, classes, job.values.objective == "multi:softmax");
  FoldScores scores;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const int number = static_cast<int>(i);
    job.log.Info("Train cross validation fold {}", number % folds + 1);
    ASSIGN_OR_RETURN(FoldResult result, TrainFold(job, number, splits[i], &predictions));
    if (result.interrupted) return CrossValidationResult{true, ""};
    scores.push_back(std::move(result.scores));
    if (scores.size() % static_cast<std::size_t>(folds) != 0) continue;
    job.log.Info("The metrics of round {} cross validation", (number + 1) / folds);
    job.log.Plain(
        MeanLine(job.values.num_round, scores, scores.size() - static_cast<std::size_t>(folds)));
  }
  if (repetitions > 1) {
    job.log.Info("The overall metrics of {}-round cross validation", repetitions);
    job.log.Plain(MeanLine(job.values.num_round, scores, 0));
  }
  return CrossValidationResult{false, predictions.ToCsv()};
}

}  // namespace sabia::algorithms
