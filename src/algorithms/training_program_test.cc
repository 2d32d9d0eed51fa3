// The training program as an agent sees it: files in, lines, files and an exit code out.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <thread>

#include "algorithms/testing/container_root.h"

namespace sabia::algorithms {
namespace {

const char* const kAbalone =
    R"({"num_round":"5","max_depth":"5","eta":"0.2","gamma":"4","min_child_weight":"6",
        "objective":"reg:squarederror","eval_metric":"rmse,mae"})";

// The numbers are those of the Python package of XGBoost 1.7.4 on the same files.
TEST(Training, PrintsTheLinesOfTheImage) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters(kAbalone);
  const auto ended = root.Run();
  EXPECT_EQ(ended.code, 0);
  const std::string stamp = "[2023-11-14:22:13:20:INFO] ";
  EXPECT_EQ(ended.output, stamp + "Imported framework sagemaker_xgboost_container.training\n" +
                              stamp + "Running XGBoost Sagemaker in algorithm mode\n" + stamp +
                              "Single node training.\n" + stamp +
                              "Train matrix has 2922 rows and 9 columns\n" + stamp +
                              "Validation matrix has 626 rows\n" +
                              "[0]\ttrain-rmse:8.07094\ttrain-mae:7.54505\tvalidation-rmse:8."
                              "16707\tvalidation-mae:7.58522\n"
                              "[1]\ttrain-rmse:6.59192\ttrain-mae:6.04747\tvalidation-rmse:6."
                              "70160\tvalidation-mae:6.08671\n"
                              "[2]\ttrain-rmse:5.42953\ttrain-mae:4.84789\tvalidation-rmse:5."
                              "55299\tvalidation-mae:4.88155\n"
                              "[3]\ttrain-rmse:4.52296\ttrain-mae:3.89003\tvalidation-rmse:4."
                              "66634\tvalidation-mae:3.92670\n"
                              "[4]\ttrain-rmse:3.82409\ttrain-mae:3.12999\tvalidation-rmse:3."
                              "99038\tvalidation-mae:3.17925\n");
  EXPECT_TRUE(root.Exists("model/xgboost-model"));
  EXPECT_FALSE(root.Exists("output/failure"));
}

TEST(Training, OtherTreeMethodsAndLinearModelsAgreeWithPython) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters(R"({"num_round":"5","max_depth":"4","eta":"0.3","tree_method":"hist"})");
  EXPECT_EQ(RoundLines(root.Run().output).back(),
            "[4]\ttrain-rmse:2.68417\tvalidation-rmse:2.88578");
  root.Hyperparameters(R"({"num_round":"5","booster":"gblinear"})");
  EXPECT_EQ(RoundLines(root.Run().output).back(),
            "[4]\ttrain-rmse:2.64728\tvalidation-rmse:2.77457");
}

TEST(Training, ContainerMetricsFollowTheNativeOnes) {
  ContainerRoot root;
  root.Write("input/data/train/a.csv", "0,1\n0,2\n1,3\n1,4\n0,1\n1,5\n");
  root.Channels({"train"}, "text/csv");
  root.Hyperparameters(
      R"({"num_round":"1","objective":"binary:logistic","eval_metric":"accuracy,error,f1",
                           "min_child_weight":"0"})");
  const auto ended = root.Run();
  EXPECT_EQ(RoundLines(ended.output),
            std::vector<std::string>{
                "[0]\ttrain-error:0.00000\ttrain-accuracy:1.00000\ttrain-f1:1.00000"});
  EXPECT_NE(ended.output.find("Determined delimiter of CSV input is ','"), std::string::npos);
}

void ExpectFailure(ContainerRoot& root, const std::string& text) {
  const auto ended = root.Run();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(root.Read("output/failure"),
            "framework error: \nsagemaker_algorithm_toolkit.exceptions." + text);
  EXPECT_NE(ended.output.find(text), std::string::npos) << ended.output;
  EXPECT_FALSE(root.Exists("model/xgboost-model"));
}

TEST(Failures, BadHyperparametersAndChannels) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters("{}");
  ExpectFailure(root, "UserError: Missing required hyperparameter: num_round");
  root.Hyperparameters(R"({"num_round":"3"})");
  root.Channels({"validation"}, "text/libsvm");
  ExpectFailure(root, "UserError: Missing required channel: train");
}

TEST(Failures, EmptyChannelsNameTheirPath) {
  ContainerRoot root;
  root.Hyperparameters(R"({"num_round":"3"})");
  root.Channels({"train", "validation"}, "text/csv");
  ExpectFailure(root, "UserError: No data in training channel path " +
                          (root.path() / "input/data/train").string());
  root.Write("input/data/train/a.csv", "1,2\n2,3\n");
  root.Write("input/data/validation/_SUCCESS", "");
  root.Write("input/data/validation/empty.csv", "\n\n");
  ExpectFailure(root, "UserError: No data in validation channel path " +
                          (root.path() / "input/data/validation").string());
}

TEST(Failures, BadRowsNameFileAndLine) {
  ContainerRoot root;
  root.Hyperparameters(R"({"num_round":"3"})");
  root.Channels({"train"}, "text/csv");
  root.Write("input/data/train/a.csv", "1,2\n2,x\n");
  ExpectFailure(root,
                "UserError: Failed to load csv data with exception:\nline 2 of file 'a.csv': "
                "column 2 'x' is not a "
                "number");
}

TEST(Failures, WhatTheLibraryRefusesIsTheUsersOrTheAlgorithms) {
  ContainerRoot root;
  root.Channels({"train"}, "text/csv");
  root.Write("input/data/train/a.csv", "1,2\n7,3\n");
  root.Hyperparameters(R"({"num_round":"3","objective":"binary:logistic"})");
  root.Run();
  EXPECT_NE(root.Read("output/failure").find("UserError: "), std::string::npos);
  EXPECT_NE(root.Read("output/failure").find("label must be in [0,1] for logistic regression"),
            std::string::npos);
  root.Hyperparameters(R"({"num_round":"3","process_type":"update","updater":"prune"})");
  root.Run();
  EXPECT_NE(
      root.Read("output/failure").find("AlgorithmError: XGB train call failed with exception:\n "),
      std::string::npos)
      << root.Read("output/failure");
}

TEST(Failures, SeveralHostsAreRefusedByName) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters(kAbalone);
  root.Write("input/config/resourceconfig.json",
             R"({"current_host":"algo-1","hosts":["algo-1","algo-2"]})");
  ExpectFailure(root,
                "UserError: distributed training of the built-in XGBoost over 2 hosts is not "
                "available; use one "
                "instance");
}

TEST(Failures, AMissingLibrarySaysWhatToInstall) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters(kAbalone);
  root.libraries = {"libnosuchxgboost.so"};
  EXPECT_EQ(root.Run().code, 1);
  const std::string failure = root.Read("output/failure");
  EXPECT_NE(failure.find("PlatformError: XGBoost is not installed: libnosuchxgboost.so"),
            std::string::npos);
  EXPECT_NE(failure.find("Install the package libxgboost0"), std::string::npos);
  root.libraries = {"libz.so.1"};
  root.Run();
  EXPECT_NE(root.Read("output/failure").find("'libz.so.1' is no XGBoost of 1.7 or later"),
            std::string::npos);
}

TEST(Training, SameFilesInBothChannelsAreWarnedOf) {
  ContainerRoot root;
  root.Abalone();
  root.Write("input/data/validation/abalone.train_0",
             root.Read("input/data/train/abalone.train_0"));
  root.Hyperparameters(R"({"num_round":"1"})");
  EXPECT_NE(
      root.Run().output.find("WARNING] The file 'abalone.train_0' has the same name and size"),
      std::string::npos);
}

TEST(Training, CheckpointsEachRoundAndResumes) {
  ContainerRoot root;
  root.Abalone();
  root.Checkpoints();
  root.Hyperparameters(R"({"num_round":"7","subsample":"0.7"})");
  ASSERT_EQ(root.Run().code, 0);
  const std::string model = root.Read("model/xgboost-model");
  for (int round = 0; round < 7; ++round) {
    EXPECT_EQ(root.Exists("checkpoints/xgboost-checkpoint." + std::to_string(round)), round >= 2);
  }
  std::filesystem::remove(root.path() / "checkpoints/xgboost-checkpoint.6");
  std::filesystem::remove(root.path() / "model/xgboost-model");
  const auto again = root.Run();
  EXPECT_NE(again.output.find("Resuming from iteration 6"), std::string::npos);
  EXPECT_EQ(RoundLines(again.output).size(), 1u);
  EXPECT_EQ(root.Read("model/xgboost-model") == model, true);
  // With all rounds done there is nothing to train, and the last line shows where it ended.
  const auto third = root.Run();
  EXPECT_EQ(RoundLines(third.output), RoundLines(again.output));
  EXPECT_EQ(root.Read("model/xgboost-model") == model, true);
}

TEST(Training, EarlyStoppingKeepsTheBestRounds) {
  ContainerRoot root;
  root.Abalone();
  root.Hyperparameters(
      R"({"num_round":"200","eta":"0.9","max_depth":"8","early_stopping_rounds":"3"})");
  const auto ended = root.Run();
  const std::size_t rounds = RoundLines(ended.output).size();
  ASSERT_GT(rounds, 4u);
  ASSERT_LT(rounds, 200u);
  // A model of exactly the best rounds predicts the same.
  const std::string rows = "1:2 2:0.645 3:0.515 4:0.15 5:1.212 6:0.515 7:0.2055 8:0.385\n";
  const std::vector<std::string> predict = {"predict", "--model",
                                            (root.path() / "model/xgboost-model").string(),
                                            "--content-type", "text/libsvm"};
  const std::string best = root.Run(predict, rows).output;
  root.Hyperparameters(R"({"num_round":")" + std::to_string(rounds - 3) +
                       R"(","eta":"0.9","max_depth":"8"})");
  ASSERT_EQ(root.Run().code, 0);
  EXPECT_EQ(root.Run(predict, rows).output, best);
}

TEST(Training, PipeModeReadsTheFifo) {
  ContainerRoot root;
  root.Channels({"train"}, "text/csv", "Pipe");
  root.Hyperparameters(R"({"num_round":"1","eval_metric":"rmse"})");
  const auto fifo = root.path() / "input/data/train_0";
  std::filesystem::create_directories(fifo.parent_path());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(fifo) << "1,2\n2,3\n3,4\n"; });
  const auto ended = root.Run();
  writer.join();
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Train matrix has 3 rows and 1 columns"), std::string::npos);
}

TEST(KFold, LeavesAModelPerFoldMeansAndPredictions) {
  ContainerRoot root;
  root.Abalone();
  root.Checkpoints();
  root.Hyperparameters(
      R"({"num_round":"3","_kfold":"3","_num_cv_round":"2","eval_metric":"rmse","subsample":"0.8"})");
  const auto ended = root.Run();
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Run 2-round of 3-fold cross validation with 3548 rows"),
            std::string::npos);
  EXPECT_NE(ended.output.find("Train cross validation fold 3"), std::string::npos);
  EXPECT_NE(ended.output.find("The metrics of round 2 cross validation"), std::string::npos);
  EXPECT_NE(ended.output.find("The overall metrics of 2-round cross validation\n[3]\ttrain-rmse:"),
            std::string::npos);
  std::vector<std::string> models;
  for (int fold = 0; fold < 6; ++fold) {
    models.push_back(root.Read("model/xgboost-model-" + std::to_string(fold)));
    EXPECT_FALSE(models.back().empty());
    EXPECT_TRUE(root.Exists("checkpoints/model-" + std::to_string(fold) + "/xgboost-checkpoint.2"));
  }
  const std::string predictions = root.Read("output/data/predictions.csv");
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 3548);
  // Resumed in the middle of the fourth fold, the job comes to the same end.
  std::filesystem::remove_all(root.path() / "checkpoints/model-5");
  std::filesystem::remove_all(root.path() / "checkpoints/model-4");
  std::filesystem::remove(root.path() / "checkpoints/model-3/xgboost-checkpoint.2");
  const auto again = root.Run();
  for (std::size_t fold = 0; fold < 6; ++fold) {
    EXPECT_EQ(root.Read("model/xgboost-model-" + std::to_string(fold)) == models[fold], true)
        << fold;
  }
  EXPECT_EQ(root.Read("output/data/predictions.csv") == predictions, true);
  EXPECT_EQ(RoundLines(again.output).back(), RoundLines(ended.output).back());
}

TEST(KFold, RefusesMoreFoldsThanRows) {
  ContainerRoot root;
  root.Channels({"train"}, "text/csv");
  root.Write("input/data/train/a.csv", "1,2\n2,3\n");
  root.Hyperparameters(R"({"num_round":"3","_kfold":"5"})");
  ExpectFailure(
      root,
      "UserError: Cannot have number of splits n_splits=5 greater than the number of samples: "
      "n_samples=2.");
}

TEST(Predict, OneLinePerRow) {
  ContainerRoot root;
  root.Channels({"train"}, "text/csv");
  root.Write("input/data/train/a.csv", "1,0\n1,0\n1,0\n3,1\n3,1\n3,1\n");
  root.Hyperparameters(R"({"num_round":"60","lambda":"0","min_child_weight":"0","eta":"1"})");
  ASSERT_EQ(root.Run().code, 0);
  const std::string model = (root.path() / "model/xgboost-model").string();
  EXPECT_EQ(root.Run({"predict", "--model", model}, "0\n1\n\n0\n").output, "1.0\n3.0\n1.0\n");
  EXPECT_EQ(root.Run({"predict", "--model", model}, "").output, "");
  EXPECT_EQ(root.Run({"predict", "--model", model}, "0,1\n").code, 1);  // too many features
  EXPECT_EQ(root.Run({"predict", "--model", model + "x"}, "0\n").code, 1);
}

TEST(Predict, RefusesWrongArguments) {
  ContainerRoot root;
  EXPECT_EQ(root.Run({"predict"}).code, 2);
  EXPECT_EQ(root.Run({"predict", "--model"}).code, 2);
  EXPECT_EQ(root.Run({"predict", "--model", "m", "--content-type", "text/html"}).code, 2);
  EXPECT_EQ(root.Run({"serve"}).code, 2);
  EXPECT_EQ(root.Run({}).code, 2);
}

}  // namespace
}  // namespace sabia::algorithms
