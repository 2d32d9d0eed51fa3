// Goal: a program gets its Pipe channels as on SageMaker, and the agent ends well whatever it does
// with them.
// Method: a real agent with a real sandbox over a directory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

using model::InputMode;
using testing::AnyOf;
using testing::HasSubstr;

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

// Opens FIFOs as programs do: until they exist.
constexpr char kEpoch[] =
    "epoch() { until [ -p /opt/ml/input/data/$1 ]; do sleep 0.01; done; cat /opt/ml/input/data/$1; "
    "}; ";

TEST(PipeRun, BWRAP_EpochsFollowEachOther) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", "one\n"}, {"b", "two\n"}}, InputMode::kPipe);
  run.spec.channels[0].content_type = "text/csv";
  run.Shell(std::string(kEpoch) +
            "ls /opt/ml/input/data; epoch train_0; epoch train_1; epoch train_2; "
            "cat /opt/ml/input/config/inputdataconfig.json");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(),
            "train_0\none\ntwo\none\ntwo\none\ntwo\n"
            R"({"train":{"ContentType":"text/csv","TrainingInputMode":"Pipe",)"
            R"("S3DistributionType":"FullyReplicated","RecordWrapperType":"None"}})"
            "\n");
  ASSERT_EQ(report.channels.size(), 1u);
  const model::ChannelReport& train = report.channels[0];
  EXPECT_EQ(train.name, "train");
  EXPECT_EQ(train.way, "pipe");
  EXPECT_EQ(train.epochs, 3);
  EXPECT_EQ(train.epochs_delivered, 3);
  EXPECT_EQ(train.objects, 6);
  EXPECT_EQ(train.bytes, 24);
}

TEST(PipeRun, BWRAP_EarlyCloseThenTheNextEpochWhole) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", std::string(3'000'000, 'x')}}, InputMode::kPipe);
  run.Shell(std::string(kEpoch) +
            "head -c 5 /opt/ml/input/data/train_0; echo; epoch train_1 | wc -c");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << report.error;
  EXPECT_EQ(run.Log(), "xxxxx\n3000000\n");
  EXPECT_EQ(report.channels.at(0).epochs_cut, 1);
  EXPECT_EQ(report.channels.at(0).epochs_delivered, 1);
}

TEST(PipeRun, BWRAP_SeveralChannelsAndModesAtOnce) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("a", {{"x", std::string(2'000'000, 'a')}}, InputMode::kPipe);
  run.AddChannel("b", {{"x", std::string(2'000'000, 'b')}}, InputMode::kPipe);
  run.AddChannel("files", {{"f", "file"}});
  run.AddChannel("fast", {{"f", "fast"}}, InputMode::kFastFile);
  // Both FIFOs open, read in turns.
  run.Shell(
      "cd /opt/ml/input/data; exec 3<a_0 4<b_0; for i in 1 2 3 4; do head -c 1 <&3; head -c 1 <&4; "
      "done; echo; cat files/f fast/f; echo; wc -c <&3; wc -c <&4");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << report.error;
  EXPECT_EQ(run.Log(), "abababab\nfilefast\n1999996\n1999996\n");
  std::map<std::string, std::string> ways;
  for (const auto& channel : report.channels) ways[channel.name] = channel.way;
  EXPECT_EQ(ways["a"], "pipe");
  EXPECT_EQ(ways["fast"], "view");
  EXPECT_EQ(report.channels.size(), 4u);
}

TEST(PipeRun, BWRAP_NobodyReads) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", "x"}}, InputMode::kPipe);
  run.Shell("echo done >/opt/ml/model/m");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_TRUE(report.model_uploaded);
  EXPECT_EQ(report.channels.at(0).epochs, 0);
}

TEST(PipeRun, BWRAP_StopWhileTheProgramSleepsOverAFullPipe) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", std::string(3'000'000, 'x')}}, InputMode::kPipe);
  run.Shell(
      "trap 'echo bye; exit 0' TERM; exec 3</opt/ml/input/data/train_0; head -c 1 <&3; echo; "
      "while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("x\n"));
  run.Order({.stop = model::StopReason::kRequested});
  EXPECT_EQ(run.Wait(), 0);
  const model::Report report = run.Report();
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.stopped_for, model::StopReason::kRequested);
  EXPECT_THAT(run.Log(), HasSubstr("bye"));
  EXPECT_GT(report.channels.at(0).blocked, Millis(0));
  EXPECT_EQ(report.error, "");
}

TEST(PipeRun, BWRAP_AnEpochThatIsOverKeepsItsTimes) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", std::string(3'000'000, 'x')}}, InputMode::kPipe);
  // Full for 200 ms; then nobody opens the next epoch for 100.
  run.Shell(
      "exec 3</opt/ml/input/data/train_0; head -c 1 <&3; sleep 0.2; cat <&3 | wc -c; exec 3<&-; "
      "sleep 0.1");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << run.Log();
  const model::ChannelReport& channel = report.channels.at(0);
  EXPECT_EQ(channel.epochs_delivered, 1);
  EXPECT_GE(channel.served, Millis(200));
  EXPECT_GE(channel.blocked, Millis(150));
  EXPECT_GE(channel.unopened, Millis(90));
  const Millis trained =
      report.began.at(model::AgentPhase::kDone) - report.began.at(model::AgentPhase::kTraining);
  EXPECT_LE(channel.served + channel.unopened, trained + Millis(50)) << "no time counts twice";
}

TEST(PipeRun, BWRAP_InterruptionInTheMiddleOfAnEpoch) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", std::string(3'000'000, 'x')}}, InputMode::kPipe);
  run.Shell("exec 3</opt/ml/input/data/train_0; head -c 1 <&3; echo; while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("x\n"));
  run.Order({.stop = model::StopReason::kInterrupted,
             .kill_at = env::PosixClock().Wall() + Millis(20'000)});
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_EQ(run.Report().stopped_for, model::StopReason::kInterrupted);
  EXPECT_FALSE(run.Report().model_uploaded);
}

TEST(PipeRun, BWRAP_DataThatIsGoneIsToldAndNotShownAsAnEnd) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", "first\n"}, {"b", "second\n"}}, InputMode::kPipe);
  ASSERT_EQ(::unlink(run.blob("b").c_str()), 0);
  // A program that saw an end would say so, and exit 0.
  run.Shell("trap 'echo told; exit 3' TERM; cat /opt/ml/input/data/train_0 & wait $!; echo ended");
  const model::Report report = run.Run();
  EXPECT_EQ(report.error,
            "Data download failed:channel 'train' from s3://bucket/train: 'b': it was deleted or "
            "replaced");
  EXPECT_TRUE(report.error_is_users);
  EXPECT_EQ(report.stopped_for, model::StopReason::kInputFailed);
  // Whether and when `cat` still prints what came before is a race between it and the shell.
  EXPECT_THAT(run.Log(), AnyOf("told\n", "first\ntold\n", "told\nfirst\n"));
  EXPECT_FALSE(report.model_uploaded);
}

TEST(PipeRun, BWRAP_AProgramThatIgnoresTheFailureIsKilled) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.stop_grace = Millis(100);
  run.AddChannel("train", {{"a", "x"}}, InputMode::kPipe);
  ASSERT_EQ(::unlink(run.blob("a").c_str()), 0);
  run.Shell("trap '' TERM; cat /opt/ml/input/data/train_0");
  const model::Report report = run.Run();
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_THAT(report.error, HasSubstr("Data download failed:channel 'train'"));
}

TEST(PipeRun, BWRAP_TheAgentsDeathTakesReaderAndWriterAway) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a", std::string(3'000'000, 'x')}}, InputMode::kPipe);
  run.Shell("exec 3</opt/ml/input/data/train_0; head -c 1 <&3; echo; while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("x\n"));
  run.Kill();
  run.Wait();
  // Nobody has the FIFO open for reading any more.
  EXPECT_TRUE(run.Until([&] {
    const env::UniqueFd fd(
        ::open((run.layout().data() / "train_0").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return !fd && errno == ENXIO;
  }));
}

TEST(PipeRun, BWRAP_ShufflesWithTheSeedOfTheRequest) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  std::map<std::string, std::string> objects;
  for (char c = 'a'; c <= 'h'; ++c) objects[std::string(1, c)] = std::string(1, c);
  run.AddChannel("train", objects, InputMode::kPipe);
  run.AddChannel("files", objects);
  for (auto& channel : run.spec.channels) {
    channel.shuffle_seed = 42;
    channel.distribution = "ShardedByS3Key";
    channel.share_host = 1;
    channel.share_hosts = 2;
  }
  run.Shell(
      std::string(kEpoch) +
      "cd /opt/ml/input/data; epoch train_0; echo; epoch train_1; echo; ls files | tr -d '\\n'; "
      "echo");
  EXPECT_EQ(run.Run().exit_code, 0);
  // The orders of epoch_order_test.cc: 3 6 0 7 1 2 5 4 and 1 0 5 3 4 6 7 2; every second of them.
  EXPECT_EQ(run.Log(), "ghce\nadgc\ncegh\n");
}

}  // namespace
}  // namespace sabia::agent
