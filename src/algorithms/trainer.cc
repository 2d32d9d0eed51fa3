#include "algorithms/trainer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "algorithms/booster_schedule.h"
#include "algorithms/early_stopping.h"
#include "algorithms/python_text.h"
#include "base/encoding.h"

namespace sabia::algorithms {
namespace {

constexpr const char* kBestRound = "best_iteration";
constexpr const char* kBestScore = "best_score";
// gblinear has no rounds to cut off, so its best state is kept whole, in base64, until the end.
constexpr const char* kBestModel = "best_model";

// Texts of the library for what only the user can mend.
constexpr std::array<std::string_view, 14> kUserTexts = {
    "label must be in [0,1] for logistic regression",
    "label must be in [0, num_class)",
    "feature_names mismatch",
    "preds.size() == info.labels_.size()",
    "AUC: the dataset only contains pos or neg samples",
    "base_score must be in (0,1) for logistic loss",
    "label must be nonnegative",
    "label must be positive",
    "label must be greater than",
    "Parameter reg_lambda should be greater equal to 0",
    "Target is multiclass but average='binary'",
    "classification metrics need",
    "Input data contains `inf`",
    "cannot be used with several values per row"};

// The library's refusal: the user's when it is one of the known texts, otherwise the algorithm's.
Error Explain(Error error) {
  const bool users = std::any_of(kUserTexts.begin(), kUserTexts.end(), [&](std::string_view text) {
    return error.message.find(text) != std::string::npos;
  });
  if (users || error.code != ErrorCode::kInvalidArgument) return error;
  return {ErrorCode::kInternal, "XGB train call failed with exception:\n " + error.message};
}

class Rounds {
 public:
  explicit Rounds(const TrainingRun& run)
      : run_(run),
        plan_(PlanMetrics(run.values)),
        schedule_(run.values, run.api.major, run.train.rows(), run.threads) {
    for (const EvaluationSet& set : run.sets) matrices_.push_back(set.matrix);
    if (run.values.early_stopping_rounds && run.sets.size() > 1) {
      stopping_.emplace(*run.values.early_stopping_rounds, IsMaximised(plan_.early_stopping));
      stopping_known_ = !plan_.early_stopping.empty();
    }
  }

  Result<TrainingResult> Run() {
    ASSIGN_OR_RETURN(Booster booster, Resume());
    std::vector<Score> scores;
    bool interrupted = false;
    int round = next_;
    for (; round < run_.values.num_round && !Stopped(round - 1); ++round) {
      interrupted = run_.stop_requested && run_.stop_requested();
      if (interrupted) break;
      if (round > 0) RETURN_IF_ERROR(schedule_.Continue(booster, round));
      RETURN_IF_ERROR(booster.Update(round, run_.train));
      ASSIGN_OR_RETURN(scores, Evaluate(booster, round, run_.sets, plan_));
      RETURN_IF_ERROR(Finish(booster, round, scores));
    }
    if (run_.checkpoints && !interrupted) run_.checkpoints->Prune(false);
    if (round == next_ && next_ > 0 && !interrupted) {  // all was done before: show where it ended
      ASSIGN_OR_RETURN(scores, Evaluate(booster, next_ - 1, run_.sets, plan_));
      run_.log.Plain(RoundLine(next_ - 1, scores));
    }
    if (!interrupted) RETURN_IF_ERROR(KeepBest(&booster));
    return TrainingResult{std::move(booster), std::move(scores), interrupted};
  }

 private:
  bool Linear() const { return run_.values.booster == "gblinear"; }
  ModelFormat CheckpointFormat() const {
    return Linear() ? ModelFormat::kUbjson : ModelFormat::kFile;
  }
  bool Stopped(int round) const { return stopping_ && round >= 0 && stopping_->ShouldStop(round); }

  // The booster of the newest whole checkpoint, or a new one.
  Result<Booster> Resume() {
    if (run_.checkpoints) {
      RETURN_IF_ERROR(run_.checkpoints->Open());
      for (const int round : run_.checkpoints->Rounds()) {
        auto booster = LoadCheckpoint(round);
        if (booster) {
          next_ = round + 1;
          run_.log.Info("Checkpoint loaded from {}", run_.checkpoints->PathOf(round).string());
          run_.log.Info("Resuming from iteration {}", next_);
          RETURN_IF_ERROR(RestoreStopping(*booster));
          RETURN_IF_ERROR(schedule_.Prime(run_.api, run_.train));
          RETURN_IF_ERROR(schedule_.Begin(*booster, next_, plan_.native));
          return booster;
        }
        run_.log.Warning("Skipping checkpoint {}: {}", run_.checkpoints->PathOf(round).string(),
                         booster.error().message);
      }
    }
    ASSIGN_OR_RETURN(Booster booster, Booster::Create(run_.api, matrices_));
    RETURN_IF_ERROR(booster.Set("validate_parameters", "1"));
    RETURN_IF_ERROR(schedule_.Begin(booster, 0, plan_.native));
    return booster;
  }

  Result<Booster> LoadCheckpoint(int round) {
    ASSIGN_OR_RETURN(const std::string model, run_.checkpoints->Read(round));
    ASSIGN_OR_RETURN(Booster booster, Booster::Create(run_.api, matrices_));
    RETURN_IF_ERROR(booster.Load(model));
    ASSIGN_OR_RETURN(const int rounds, booster.Rounds());
    if (rounds == round + 1) return booster;
    return Fail(ErrorCode::kCorrupt, "it holds {} rounds instead of {}", rounds, round + 1);
  }

  Status RestoreStopping(Booster& booster) {
    const auto round = booster.Attribute(kBestRound);
    const auto score = booster.Attribute(kBestScore);
    if (!stopping_ || !round || !score) return {};
    const auto best_round = ParsePythonInt(*round);
    const auto best_score = ParsePythonFloat(*score);
    if (!best_round || !best_score)
      return Fail(ErrorCode::kCorrupt, "a checkpoint's best round is unreadable");
    stopping_->Restore({static_cast<int>(*best_round), *best_score});
    return {};
  }

  // What a trained round leaves: its line, the best round, a checkpoint, a model to end with.
  Status Finish(Booster& booster, int round, const std::vector<Score>& scores) {
    run_.log.Plain(RoundLine(round, scores));
    if (stopping_) RETURN_IF_ERROR(ObserveStopping(booster, round, scores));
    if (run_.checkpoints) {
      ASSIGN_OR_RETURN(const std::string model, booster.Save(CheckpointFormat()));
      RETURN_IF_ERROR(run_.checkpoints->Write(round, model));
      run_.checkpoints->Prune(true);
    }
    if (!run_.after_round) return {};
    ASSIGN_OR_RETURN(const std::string model, booster.Save());
    return run_.after_round(model);
  }

  Status ObserveStopping(Booster& booster, int round, const std::vector<Score>& scores) {
    const Score* watched = nullptr;
    for (const Score& score : scores) {
      if (score.set == "validation" && (!stopping_known_ || score.metric == plan_.early_stopping)) {
        watched = &score;
      }
    }
    if (!watched) {
      return Fail(ErrorCode::kInternal, "early stopping watches '{}', which is not printed",
                  plan_.early_stopping);
    }
    if (!stopping_known_) stopping_->Watch(IsMaximised(watched->metric));
    if (!stopping_->Observe(round, watched->value)) return {};
    if (Linear()) {
      RETURN_IF_ERROR(booster.SetAttribute(kBestModel, std::nullopt));
      ASSIGN_OR_RETURN(const std::string model, booster.Save(CheckpointFormat()));
      RETURN_IF_ERROR(booster.SetAttribute(kBestModel, Base64Encode(model)));
    }
    RETURN_IF_ERROR(booster.SetAttribute(kBestRound, fmt::format("{}", round)));
    return booster.SetAttribute(kBestScore, PythonFloat(watched->value));
  }

  Status KeepBest(Booster* booster) {
    if (!stopping_ || !stopping_->best()) return {};
    const EarlyStopping::Best best = *stopping_->best();
    if (Linear()) {
      const auto text = booster->Attribute(kBestModel);
      if (!text) return Fail(ErrorCode::kInternal, "the best linear model was not kept");
      ASSIGN_OR_RETURN(const std::string model, Base64Decode(*text));
      ASSIGN_OR_RETURN(*booster, Booster::Create(run_.api, matrices_));
      RETURN_IF_ERROR(booster->Load(model));
      RETURN_IF_ERROR(schedule_.Begin(*booster, best.round, plan_.native));
    } else {
      ASSIGN_OR_RETURN(*booster, booster->FirstRounds(best.round + 1));
    }
    RETURN_IF_ERROR(booster->SetAttribute(kBestRound, fmt::format("{}", best.round)));
    return booster->SetAttribute(kBestScore, PythonFloat(best.value));
  }

  const TrainingRun& run_;
  MetricPlan plan_;
  BoosterSchedule schedule_;
  std::vector<const Matrix*> matrices_;
  std::optional<EarlyStopping> stopping_;
  bool stopping_known_ = false;  // false: the last metric printed is watched
  int next_ = 0;
};

}  // namespace

Result<TrainingResult> Train(const TrainingRun& run) {
  auto result = Rounds(run).Run();
  if (!result) return tl::unexpected<Error>(Explain(std::move(result).error()));
  return result;
}

}  // namespace sabia::algorithms
