// Goal: whatever moment a signal chooses, the next run ends in the model of an uninterrupted one.
// Method: the program in a process of its own; the test reads its lines and signals it after a
// given round. Nothing waits for a time: the round's line is the clock.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "algorithms/testing/container_root.h"

namespace sabia::algorithms {
namespace {

class TerminationTest : public ::testing::Test {
 protected:
  struct Exit {
    bool exited = false;
    int code = 0;  // or the signal
  };

  // Runs the program; sends `signal` when the line of round `round` appears (-1: never).
  Exit Run(int round, int signal = SIGTERM) {
    int pipe_ends[2];
    EXPECT_EQ(::pipe(pipe_ends), 0);
    // A small pipe read without a buffer holds some 80 lines: the program cannot run far ahead of
    // the test.
    ::fcntl(pipe_ends[1], F_SETPIPE_SZ, 4096);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    ::posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    std::string program = XGBOOST_PROGRAM;
    std::string root = root_.path().string();
    std::string train = "train";
    char* argv[] = {program.data(), root.data(), train.data(), nullptr};
    char* environment[] = {nullptr};
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environment), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    FILE* const lines = ::fdopen(pipe_ends[0], "r");
    ::setvbuf(lines, nullptr, _IONBF, 0);
    char line[4096];
    const std::string awaited = "[" + std::to_string(round) + "]\t";
    last_round_ = -1;
    while (::fgets(line, sizeof(line), lines)) {
      const std::string text = line;
      if (text.find("]\ttrain-") != std::string::npos) last_round_ = std::stoi(text.substr(1));
      if (round >= 0 && text.starts_with(awaited)) ::kill(pid, signal);
    }
    ::fclose(lines);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) return {true, WEXITSTATUS(status)};
    return {false, WTERMSIG(status)};
  }

  // The model of a run that nothing disturbs, in the given state of the root.
  std::string Undisturbed() {
    EXPECT_EQ(Run(-1).code, 0);
    std::string model = root_.Read("model/xgboost-model");
    std::filesystem::remove_all(root_.path() / "model");
    std::filesystem::remove_all(root_.path() / "checkpoints");
    return model;
  }

  ContainerRoot root_;
  int last_round_ = -1;
};

constexpr int kTerminated = 143;

TEST_F(TerminationTest, SigtermEndsAfterTheRoundAndTheNextRunGoesOn) {
  root_.Abalone();
  root_.Checkpoints();
  root_.Hyperparameters(R"({"num_round":"300","subsample":"0.7","max_depth":"4","nthread":"1"})");
  const std::string whole = Undisturbed();
  for (const int round : {0, 7, 120}) {
    const Exit exit = Run(round);
    EXPECT_TRUE(exit.exited);
    EXPECT_EQ(exit.code, kTerminated);
    EXPECT_GE(last_round_, round);
    EXPECT_LT(last_round_, 299);
    // The round whose line was printed last is the newest checkpoint.
    EXPECT_TRUE(root_.Exists("checkpoints/xgboost-checkpoint." + std::to_string(last_round_)));
    EXPECT_FALSE(root_.Exists("model/xgboost-model"));
  }
  EXPECT_EQ(Run(-1).code, 0);
  EXPECT_EQ(root_.Read("model/xgboost-model") == whole, true);
}

TEST_F(TerminationTest, SigkillLosesAtMostARound) {
  root_.Abalone();
  root_.Checkpoints();
  root_.Hyperparameters(
      R"({"num_round":"300","subsample":"0.7","tree_method":"hist","max_depth":"4","nthread":"1"})");
  const std::string whole = Undisturbed();
  for (const int round : {1, 20, 50, 90, 130}) {
    const Exit exit = Run(round, SIGKILL);
    EXPECT_FALSE(exit.exited);
    EXPECT_EQ(exit.code, SIGKILL);
  }
  EXPECT_EQ(Run(-1).code, 0);
  EXPECT_EQ(root_.Read("model/xgboost-model") == whole, true);
}

TEST_F(TerminationTest, SaveModelOnTerminationLeavesAModelAndNothingElse) {
  root_.Abalone();
  root_.Hyperparameters(
      R"({"num_round":"100000","save_model_on_termination":"true","max_depth":"2","nthread":"1"})");
  root_.Write("model/notes.txt", "mine");
  const Exit exit = Run(5);
  EXPECT_TRUE(exit.exited);
  EXPECT_EQ(exit.code, 0);
  EXPECT_FALSE(root_.Exists("model/notes.txt"));
  const std::string model = root_.Read("model/xgboost-model");
  std::filesystem::remove_all(root_.path() / "model");
  root_.Hyperparameters(R"({"num_round":")" + std::to_string(last_round_ + 1) +
                        R"(","max_depth":"2","nthread":"1"})");
  EXPECT_EQ(Run(-1).code, 0);
  EXPECT_EQ(root_.Read("model/xgboost-model") == model, true);
}

}  // namespace
}  // namespace sabia::algorithms
