#include "algorithms/hyperparameters.h"

#include <gtest/gtest.h>

#include <string>

namespace sabia::algorithms {
namespace {

Result<Hyperparameters> Read(const std::string& extra) {
  return ReadHyperparameters(
      *ParseJsonObject(R"({"num_round":"10")" + (extra.empty() ? "" : "," + extra) + "}"));
}

std::string Problem(const std::string& extra) {
  const auto result = Read(extra);
  return result ? "accepted" : result.error().message;
}

TEST(Hyperparameters, DefaultsAreTheLibrarysOwn) {
  const auto read = Read("");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->num_round, 10);
  EXPECT_EQ(read->booster, "gbtree");
  EXPECT_EQ(read->seed, 0);
  EXPECT_FALSE(read->samples);
  EXPECT_TRUE(read->library.empty());  // nothing is set that the user did not set
}

TEST(Hyperparameters, KeepsWhatTheLibraryReads) {
  const auto read =
      Read(R"("learning_rate":"0.2","max_depth":"5","subsample":"0.7","eval_metric":"rmse,mae",
      "_tuning_objective_metric":"validation:rmse","seed":"-7","nthread":"2",
      "early_stopping_rounds":"3",
      "save_model_on_termination":"true","csv_weights":"1","_kfold":"5","_num_cv_round":"2")");
  ASSERT_TRUE(read) << read.error().message;
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(read->library, (Pairs{{"eta", "0.2"}, {"max_depth", "5"}, {"subsample", "0.7"}}));
  EXPECT_TRUE(read->samples);
  EXPECT_EQ(read->eval_metrics, (std::vector<std::string>{"rmse", "mae"}));
  EXPECT_EQ(read->tuning_metric, "rmse");
  EXPECT_EQ(read->seed, -7);
  EXPECT_EQ(read->threads, 2);
  EXPECT_EQ(read->early_stopping_rounds, 3);
  EXPECT_TRUE(read->save_model_on_termination);
  EXPECT_TRUE(read->csv_weights);
  EXPECT_EQ(read->folds, 5);
  EXPECT_EQ(read->fold_rounds, 2);
}

TEST(Hyperparameters, NamesWhatIsMissingOrUnknown) {
  EXPECT_EQ(ReadHyperparameters({}).error().message, "Missing required hyperparameter: num_round");
  EXPECT_EQ(Problem(R"("depth":"3")"), "Extraneous hyperparameter found: depth");
}

TEST(Hyperparameters, NamesWhatDoesNotParse) {
  for (const std::string text :
       {R"("max_depth":"five")", R"("max_depth":"5.0")", R"("max_depth":"")"}) {
    EXPECT_EQ(Problem(text), "Hyperparameter max_depth: could not parse value") << text;
  }
  EXPECT_EQ(Problem(R"("eta":"fast")"), "Hyperparameter eta: could not parse value");
  EXPECT_EQ(Problem(R"("max_depth":" +5 ")"), "accepted");
  EXPECT_EQ(Problem(R"("max_depth":5)"), "accepted");  // a number instead of its text
}

TEST(Hyperparameters, NamesTheRange) {
  const auto range = [](const std::string& name, const std::string& value, const std::string& shown,
                        const std::string& interval) {
    EXPECT_EQ(Problem("\"" + name + "\":\"" + value + "\""),
              "Hyperparameter " + name + ": value " + shown + " not in range " + interval);
  };
  range("early_stopping_rounds", "0", "0", "[1, +inf)");
  range("verbosity", "4", "4", "[0, 3]");
  range("eta", "1.5", "1.5", "[0, 1]");
  range("eta", "2", "2.0", "[0, 1]");
  range("eta", "nan", "nan", "[0, 1]");
  range("subsample", "0", "0.0", "(0, 1]");
  range("sketch_eps", "1", "1.0", "(0, 1)");
  range("tweedie_variance_power", "2", "2.0", "(1, 2)");
  range("num_class", "1", "1", "[2, +inf)");
  range("max_depth", "-1", "-1", "[0, +inf)");
  range("seed", "2147483647", "2147483647", "(-2147483648, 2147483647)");
  range("monotone_constraints", "(1, 2)", "(1, 2)", "[-1, 0, 1]");
  range("monotone_constraints", "(3,)", "(3,)", "[-1, 0, 1]");
  range("interaction_constraints", "[[1, 2], [0]]", "[[1, 2], [0]]", "[1, +inf)");
  range("max_depth", "9999999999", "9999999999", "[0, 2147483647]");
  EXPECT_EQ(ReadHyperparameters(*ParseJsonObject(R"({"num_round":"0"})")).error().message,
            "Hyperparameter num_round: value 0 not in range [1, +inf)");
}

TEST(Hyperparameters, NamesTheCategories) {
  EXPECT_EQ(Problem(R"("booster":"tree")"),
            "Hyperparameter booster: tree is not in ['gbtree', 'gblinear', 'dart']");
  EXPECT_EQ(Problem(R"("save_model_on_termination":"True")"),
            "Hyperparameter save_model_on_termination: True is not in ['true', 'false']");
  EXPECT_TRUE(
      Problem(R"("objective":"reg:cubic")")
          .starts_with("Hyperparameter objective: reg:cubic is not in ['binary:logistic', "));
  EXPECT_TRUE(Problem(R"("eval_metric":"rmse,loss")")
                  .starts_with("Hyperparameter eval_metric: value ['rmse', 'loss'] not in range "
                               "['accuracy', 'auc', "));
  EXPECT_TRUE(Problem(R"("_tuning_objective_metric":"train:rmse")")
                  .starts_with("Hyperparameter _tuning_objective_metric: train:rmse is not in "
                               "['validation:accuracy', "));
}

TEST(Hyperparameters, RulesForObjectives) {
  EXPECT_EQ(Problem(R"("objective":"multi:softmax")"),
            "Require input for parameter 'num_class' for multi-classification");
  EXPECT_EQ(Problem(R"("objective":"reg:squarederror","num_class":"3")"),
            "Do not need to setup parameter 'num_class' for learning task other than "
            "multi-classification.");
  EXPECT_EQ(Problem(R"("objective":"multi:softprob","num_class":"3")"), "accepted");
}

TEST(Hyperparameters, RulesForMetrics) {
  EXPECT_EQ(Problem(R"("objective":"reg:squarederror","eval_metric":"auc")"),
            "Metric 'auc' can only be applied for classification and ranking problems.");
  EXPECT_EQ(Problem(R"("objective":"rank:ndcg","eval_metric":"auc,ndcg@5,map@2")"), "accepted");
  EXPECT_EQ(Problem(R"("eval_metric":"aft-nloglik")"),
            "Metric 'aft-nloglik' can only be applied for 'survival:aft' objective.");
  EXPECT_EQ(Problem(R"("objective":"binary:logistic","eval_metric":"error@0.7")"), "accepted");
  EXPECT_EQ(Problem(R"("eval_metric":"error@high")"),
            "Threshold value 't' in 'error@t' expects float input.");
  EXPECT_EQ(Problem(R"("eval_metric":"rmse@2")"),
            "Metric 'rmse@2' is not supported. Parameter 'eval_metric' with customized threshold "
            "should be one of "
            "these options: 'error', 'ndcg', 'map'.");
}

TEST(Hyperparameters, RulesForTrees) {
  EXPECT_EQ(Problem(R"j("monotone_constraints":"(1,-1)")j"),
            "monotone_constraints can be used only when the tree_method parameter is set to either "
            "'exact' or "
            "'hist'.");
  EXPECT_EQ(Problem(R"j("monotone_constraints":"(1,-1)","tree_method":"hist")j"), "accepted");
  EXPECT_EQ(Problem(R"("interaction_constraints":"[[1,2]]")"),
            "interaction_constraints can be used only when the tree_method parameter is set to "
            "either 'exact', "
            "'hist' or 'approx'.");
  EXPECT_EQ(Problem(R"("interaction_constraints":"[[1,2],[3]]","tree_method":"approx")"),
            "accepted");
  EXPECT_EQ(Problem(R"("booster":"gblinear","updater":"prune")"),
            "Linear updater should be one of these options: 'shotgun', 'coord_descent'.");
  EXPECT_EQ(Problem(R"("process_type":"update","updater":"grow_colmaker")"),
            "process_type 'update' can only be used with updater 'refresh' and 'prune'");
  EXPECT_TRUE(
      Problem(R"("updater":"shotgun")").starts_with("Tree updater should be selected from"));
  EXPECT_TRUE(
      Problem(R"("updater":"grow_colmaker,distcol")").starts_with("Only one tree grow plugin"));
  EXPECT_EQ(Problem(R"("updater":"grow_colmaker,prune")"), "accepted");
}

TEST(Hyperparameters, RefusesGpusByName) {
  EXPECT_EQ(Problem(R"("tree_method":"gpu_hist")"),
            "Hyperparameter tree_method: gpu_hist needs a GPU, which the built-in XGBoost does not "
            "use here; leave "
            "it out");
  EXPECT_TRUE(Problem(R"("use_dask_gpu_training":"true")").find("needs a GPU") !=
              std::string::npos);
  EXPECT_EQ(Problem(R"("use_dask_gpu_training":"false","predictor":"cpu_predictor")"), "accepted");
}

}  // namespace
}  // namespace sabia::algorithms
