// Goal: an interrupted job finds its checkpoints again, on time and never half of one.
// Method: a real agent with a real sandbox over a directory; only the S3 endpoint is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

constexpr char kCounter[] =
    "cd /opt/ml/checkpoints; n=$(cat n 2>/dev/null || echo 0); echo from $n; "
    "trap 'echo $n >n; echo bye; exit 0' TERM; while :; do n=$((n+1)); echo $n >n.tmp; mv n.tmp n; "
    "sleep 0.01; done";

TEST(CheckpointRun, BWRAP_InterruptionFlushesAndTheNextAttemptResumes) {
  SKIP_WITHOUT_BWRAP();
  std::string reached;
  {
    AgentRun run;
    run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
    ASSERT_TRUE(run.s3().Put({"bucket", "ckpt/n"}, "41\n"));
    run.Shell(kCounter);
    run.Start();
    ASSERT_TRUE(run.UntilLogged("from 41"));
    ASSERT_TRUE(run.Until([&] { return run.Object("ckpt/n") != "41\n"; }))
        << "not synced while running";
    run.Order({.stop = model::StopReason::kInterrupted,
               .kill_at = env::PosixClock().Wall() + Millis(20'000)});
    run.Wait();
    const model::Report report = run.Report();
    EXPECT_EQ(report.stopped_for, model::StopReason::kInterrupted);
    EXPECT_TRUE(report.ended_in_grace);
    EXPECT_FALSE(report.model_uploaded);
    EXPECT_EQ(report.restored_files, 1);
    EXPECT_EQ(report.restored_bytes, 3);
    EXPECT_EQ(report.checkpoint_files, 1);
    EXPECT_EQ(report.checkpoint_pending_bytes, 0);
    EXPECT_TRUE(report.checkpoint_synced_at);
    EXPECT_THAT(run.Keys(), testing::ElementsAre("ckpt/n")) << "an artifact was uploaded";
    reached = run.Object("ckpt/n");
    EXPECT_GT(std::stoi(reached), 41);
  }
  AgentRun next;
  next.spec.checkpoint_s3_uri = "s3://bucket/ckpt/";
  ASSERT_TRUE(next.s3().Put({"bucket", "ckpt/n"}, reached));
  next.Shell("cat /opt/ml/checkpoints/n");
  EXPECT_EQ(next.Run().exit_code, 0);
  EXPECT_EQ(next.Log(), reached);
}

TEST(CheckpointRun, BWRAP_KillInTheMiddleOfAFileKeepsTheOldObject) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.spec.stop_grace = Millis(100);
  ASSERT_TRUE(run.s3().Put({"bucket", "ckpt/big"}, "whole"));
  run.Shell(
      "trap '' TERM; cd /opt/ml/checkpoints; echo good >other; exec 3>big; printf ha >&3; echo "
      "ready; "
      "while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  EXPECT_EQ(run.Report().signal, SIGKILL);
  EXPECT_EQ(run.Object("ckpt/big"), "whole");
  EXPECT_EQ(run.Object("ckpt/other"), "good\n");
  EXPECT_THAT(run.Report().notes, testing::Contains(testing::HasSubstr("'big' was being written")));
}

TEST(CheckpointRun, BWRAP_ADirectoryThatHasBecomeWholeIsReportedWhileTheProgramRuns) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.Shell(
      "mkdir /opt/ml/checkpoints/step-1; echo 1 >/opt/ml/checkpoints/step-1/model; "
      "while :; do sleep 0.1; done");
  run.Start();
  EXPECT_TRUE(run.Until([&] { return run.Report().checkpoint_written_at.has_value(); }))
      << "nothing went up after it had come to rest";
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
}

TEST(CheckpointRun, BWRAP_AnyLocalPathWorks) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.spec.checkpoint_local_path = "/data/ck";
  ASSERT_TRUE(run.s3().Put({"bucket", "ckpt/d/x"}, "old\n"));
  run.Shell(
      "cat /data/ck/d/x; echo new >/data/ck/y; cat /opt/ml/input/config/checkpointconfig.json");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(), "old\n{\"S3Uri\":\"s3://bucket/ckpt\",\"LocalPath\":\"/data/ck\"}\n");
  EXPECT_EQ(run.Object("ckpt/y"), "new\n");
}

TEST(CheckpointRun, BWRAP_ReservedLocalPathIsRefused) {
  SKIP_WITHOUT_BWRAP();
  for (const char* path : {"/usr/x", "/etc", "/opt/ml", "relative", "/a/../b", "/proc/x"}) {
    AgentRun run;
    run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
    run.spec.checkpoint_local_path = path;
    run.spec.entrypoint = {"/bin/true"};
    const model::Report report = run.Run();
    EXPECT_NE(report.error, "") << path;
    EXPECT_TRUE(report.error_is_users) << path;
    EXPECT_FALSE(report.exit_code) << path;
  }
}

TEST(CheckpointRun, BWRAP_ReclaimEndsEverythingAtItsTime) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.Shell(
      "echo x >/opt/ml/checkpoints/x; trap '' TERM; echo ready; while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.s3().SetAway(true);  // the flush can never succeed
  run.Order(
      {.stop = model::StopReason::kInterrupted, .kill_at = env::PosixClock().Wall() + Millis(600)});
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_EQ(run.Report().phase, model::AgentPhase::kDone);
  EXPECT_EQ(run.Report().signal, SIGKILL);
}

}  // namespace
}  // namespace sabia::agent
