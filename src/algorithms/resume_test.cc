// Goal: an interruption after any round, and a checkpoint that was cut or damaged, change nothing
// in the final model. Method: train once without interruption; then, for each round, train up to
// it, start anew in the same checkpoint directory, and compare the bytes of the models.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "algorithms/data_files.h"
#include "algorithms/libsvm_reader.h"
#include "algorithms/testing/container_root.h"
#include "algorithms/trainer.h"

namespace sabia::algorithms {
namespace {

using Json = std::string;

struct Case {
  const char* name;
  int rounds;
  Json values;  // without num_round
  int threads = 1;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

// The first rows of Abalone, with its labels as they are or as classes.
DataTable Table(const std::string& file, const std::string& objective) {
  constexpr std::size_t kBytes = 32'000;  // some 500 rows: enough for trees that differ
  const auto bytes = FileBytes::Open(std::filesystem::path(EXAMPLES_DATA) / "abalone" / file);
  const std::string_view text = bytes->view();
  const std::string_view rows = text.substr(0, text.rfind('\n', kBytes));
  DataTable table = ReadLibsvm({{file, rows}}, {.threads = 1}).value();
  for (float& label : table.labels) {
    if (objective.starts_with("binary:")) label = label > 9 ? 1 : 0;
    if (objective.starts_with("multi:")) label = label < 8 ? 0 : label < 11 ? 1 : 2;
  }
  return table;
}

class ResumeTest : public ::testing::TestWithParam<Case> {
 protected:
  void Prepare(const Json& json, int rounds) {
    values_ = ReadHyperparameters(*ParseJsonObject("{\"num_round\":\"" + std::to_string(rounds) +
                                                   "\"," + json + "}"))
                  .value();
    api_ = OpenXgboost({}).value();
    train_ = Table("abalone.train_0", values_.objective);
    validation_ = Table("abalone.validation", values_.objective);
  }

  // Trains in a checkpoint directory until `rounds` were done in this run; returns the model, or ""
  // when interrupted.
  std::string Run(const std::string& directory, int rounds) {
    const Matrix train = Matrix::FromTable(api_, train_, threads_).value();
    const Matrix validation = Matrix::FromTable(api_, validation_, threads_).value();
    Checkpoints checkpoints(root_.path() / directory, log_);
    trained_ = 0;
    const TrainingRun run{
        .api = api_,
        .values = values_,
        .train = train,
        .sets = {{&train, "train", train_.labels}, {&validation, "validation", validation_.labels}},
        .threads = threads_,
        .checkpoints = &checkpoints,
        .after_round = {},
        .stop_requested = [&] { return trained_ == rounds || (++trained_, false); },
        .log = log_};
    auto result = Train(run);
    EXPECT_TRUE(result) << result.error().message;
    if (!result || result->interrupted) return "";
    return result->booster.Save().value();
  }

  ContainerRoot root_;
  env::ManualClock clock_;
  JobLog log_{clock_, -1};
  XgboostApi api_;
  int threads_ = 1;
  int trained_ = 0;  // rounds of the last run
  Hyperparameters values_;
  DataTable train_;
  DataTable validation_;
};

constexpr int kAll = 1 << 20;

TEST_P(ResumeTest, AnInterruptionAfterAnyRoundChangesNothing) {
  const Case& param = GetParam();
  threads_ = param.threads;
  Prepare(param.values, param.rounds);
  const std::string whole = Run("whole", kAll);
  ASSERT_FALSE(whole.empty());
  const int total = trained_;
  for (int round = 1; round < param.rounds; ++round) {
    const std::string directory = "cut" + std::to_string(round);
    const std::string first = Run(directory, round);
    if (!first.empty()) {  // stopped early before this round: nothing is left to interrupt
      EXPECT_EQ(first == whole, true) << round;
      continue;
    }
    EXPECT_EQ(Run(directory, kAll) == whole, true) << "interrupted after round " << round;
    EXPECT_EQ(trained_, total - round);  // it went on: starting anew would come to the same model
  }
}

TEST_P(ResumeTest, InterruptionsAfterEveryRoundChangeNothing) {
  const Case& param = GetParam();
  threads_ = param.threads;
  Prepare(param.values, param.rounds);
  const std::string whole = Run("whole", kAll);
  std::string model;
  for (int i = 0; i <= param.rounds && model.empty(); ++i) model = Run("often", 1);
  EXPECT_EQ(model == whole, true);
}

const std::string kSampled =
    R"("subsample":"0.7","colsample_bytree":"0.6","colsample_bylevel":"0.7","max_depth":"4")";

INSTANTIATE_TEST_SUITE_P(
    Boosters, ResumeTest,
    ::testing::Values(
        Case{"exact", 6, R"("tree_method":"exact","max_depth":"4")"},
        Case{"exact_sampled", 6, R"("tree_method":"exact",)" + kSampled, 2},
        Case{"auto_sampled", 6, kSampled},
        Case{"hist", 6, R"("tree_method":"hist","max_depth":"4")"},
        Case{"hist_rows", 6, R"("tree_method":"hist","subsample":"0.5")"},
        Case{"hist_sampled", 6, R"("tree_method":"hist",)" + kSampled, 2},
        Case{"hist_lossguide", 6,
             R"("tree_method":"hist","grow_policy":"lossguide","max_leaves":"9",)" + kSampled},
        Case{"approx_rows", 6, R"("tree_method":"approx","subsample":"0.5")"},
        Case{"approx_sampled", 6, R"("tree_method":"approx",)" + kSampled, 2},
        Case{"updater", 5, R"("updater":"grow_quantile_histmaker",)" + kSampled},
        Case{"forest", 5, R"("tree_method":"hist","num_parallel_tree":"3",)" + kSampled},
        Case{"binary", 5,
             R"("objective":"binary:logistic","tree_method":"approx","eval_metric":"auc,f1",)" +
                 kSampled},
        Case{"multi", 5,
             R"("objective":"multi:softprob","num_class":"3","tree_method":"hist",)" + kSampled},
        Case{"absolute", 5, R"("objective":"reg:absoluteerror","tree_method":"hist",)" + kSampled},
        Case{"poisson", 5, R"("objective":"count:poisson",)" + kSampled},
        Case{"dart", 8, R"("booster":"dart","rate_drop":"0.4","skip_drop":"0.2","max_depth":"3")"},
        Case{
            "dart_weighted", 8,
            R"("booster":"dart","rate_drop":"0.4","sample_type":"weighted","one_drop":"1","tree_method":"hist",)" +
                kSampled},
        Case{"dart_multi", 5,
             R"("booster":"dart","rate_drop":"0.3","objective":"multi:softmax","num_class":"3")"},
        Case{"linear", 8, R"("booster":"gblinear","alpha":"0.1")"},
        Case{"linear_descent", 8, R"("booster":"gblinear","updater":"coord_descent","lambda":"1")"},
        Case{"linear_multi", 5,
             R"("booster":"gblinear","objective":"multi:softprob","num_class":"3")"},
        Case{"seeded", 5, R"("seed":"-42","tree_method":"hist",)" + kSampled},
        Case{"stopping", 20,
             R"("early_stopping_rounds":"2","eta":"0.9","eval_metric":"mae,rmse",)" + kSampled},
        Case{"stopping_default_metric", 20,
             R"("early_stopping_rounds":"2","eta":"0.9","max_depth":"8")"},
        Case{
            "stopping_maximised", 12,
            R"("objective":"binary:logistic","eval_metric":"auc","early_stopping_rounds":"2","eta":"0.9",)" +
                kSampled},
        Case{"stopping_dart", 12,
             R"("booster":"dart","rate_drop":"0.3","early_stopping_rounds":"2","eta":"0.9")"},
        Case{"stopping_linear", 12,
             R"("booster":"gblinear","early_stopping_rounds":"2","eta":"1","lambda":"0")"}),
    [](const auto& test) { return test.param.name; });

class TornTest : public ResumeTest {};

TEST_F(TornTest, ADamagedCheckpointGivesWayToTheOneBefore) {
  Prepare(kSampled, 8);
  const std::string whole = Run("whole", kAll);
  const auto damaged = [&](const std::string& name,
                           const std::function<std::string(std::string)>& damage) {
    EXPECT_EQ(Run(name, 5), "");
    const std::string newest = name + "/xgboost-checkpoint.4";
    root_.Write(newest, damage(root_.Read(newest)));
    EXPECT_EQ(Run(name, kAll) == whole, true) << name;
  };
  damaged("empty", [](const std::string&) { return ""; });
  damaged("cut", [](const std::string& bytes) { return bytes.substr(0, bytes.size() / 2); });
  damaged("cut_trailer",
          [](const std::string& bytes) { return bytes.substr(0, bytes.size() - 1); });
  damaged("flipped", [](std::string bytes) {
    bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
    return bytes;
  });
  damaged("junk", [](const std::string&) { return std::string(4096, 'x'); });
  // A whole checkpoint under the number of another round.
  damaged("misnamed",
          [&](const std::string&) { return root_.Read("misnamed/xgboost-checkpoint.2"); });
}

TEST_F(TornTest, WhenAllAreDamagedTrainingStartsAnew) {
  Prepare(kSampled, 4);
  const std::string whole = Run("whole", kAll);
  EXPECT_EQ(Run("torn", 3), "");
  for (int i = 0; i < 3; ++i) root_.Write("torn/xgboost-checkpoint." + std::to_string(i), "torn");
  EXPECT_EQ(Run("torn", kAll) == whole, true);
}

TEST_F(TornTest, ACheckpointLoadsAsAPlainModel) {
  Prepare(R"("max_depth":"3")", 2);
  const std::string whole = Run("whole", kAll);
  const std::string file = root_.Read("whole/xgboost-checkpoint.1");  // with its trailer
  Booster booster = Booster::Create(api_, {}).value();
  ASSERT_TRUE(booster.Load(file));
  EXPECT_EQ(booster.Rounds().value(), 2);
  EXPECT_EQ(booster.Save().value() == whole, true);
}

}  // namespace
}  // namespace sabia::algorithms
