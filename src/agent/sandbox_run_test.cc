// Goal: a program runs as in a SageMaker container, and what happens to it is reported truthfully.
// Method: a real agent with a real sandbox over a directory; only the S3 endpoint is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

TEST(SandboxRun, BWRAP_TrivialProgramCompletes) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.entrypoint = {"/bin/true"};
  const model::Report report = run.Run();
  EXPECT_EQ(report.phase, model::AgentPhase::kDone);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_TRUE(report.model_uploaded);
  EXPECT_THAT(run.Keys(), testing::ElementsAre("out/model.tar.gz"));
}

TEST(SandboxRun, BWRAP_ExitCodeAndFailureFile) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell(
      "i=0; while [ $i -lt 3000 ]; do printf ü; i=$((i+1)); done >/opt/ml/output/failure; echo "
      "last; exit 7");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_FALSE(report.signal);
  EXPECT_EQ(report.failure_file.size(), 2 * 1024u);
  EXPECT_THAT(report.last_lines, testing::ElementsAre("last"));
  EXPECT_FALSE(report.model_uploaded);
}

TEST(SandboxRun, BWRAP_SignalIsReported) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("kill -SEGV $$");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 139);
  EXPECT_EQ(report.signal, SIGSEGV);
  EXPECT_FALSE(report.out_of_memory);
}

TEST(SandboxRun, BWRAP_SeesChannelsAndMayChangeItsOwnCopy) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddChannel("train", {{"a.csv", "1,2\n"}, {"deep/er/b.csv", "3\n"}});
  run.AddChannel("fast", {{"x", "y\n"}}, model::InputMode::kFastFile);
  run.Shell(
      "cd /opt/ml/input/data; find . -type f | sort; cat train/a.csv; echo more >>train/a.csv && "
      "cat train/a.csv; "
      "rm train/deep/er/b.csv && echo removed; cat fast/x; echo z >fast/new || echo refused");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(),
            "./fast/x\n./train/a.csv\n./train/deep/er/b.csv\n1,2\n1,2\nmore\nremoved\ny\n"
            "/bin/sh: 1: cannot create fast/new: Read-only file system\nrefused\n");
  env::PosixFiles files;
  EXPECT_EQ(files.Read(run.blob("a.csv"), 100).value_or("?"), "1,2\n")
      << "the stored object changed";
}

TEST(SandboxRun, BWRAP_HidesTheHostAndItsSecrets) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell(
      "echo me $(id -u) host $(hostname) pids $(ls /proc | grep -c '^[0-9]'); ls -A /root /home; "
      "test -e /etc/shadow && echo FOUND; test -e /var/lib && echo FOUND; getent hosts algo-1; "
      "echo key $AWS_SECRET_ACCESS_KEY; ls /proc/self/fd; "
      "tr '\\0' ' ' </proc/1/cmdline; sleep 60 & wait");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("\n3\n"));
  // No command line of the machine may show the secret while the program runs.
  std::string seen;
  env::PosixFiles files;
  const auto processes = files.List("/proc");
  ASSERT_TRUE(processes);
  for (const std::string& process : *processes) {
    seen += files.Read("/proc/" + process + "/cmdline", 1 << 20).value_or("");
  }
  EXPECT_THAT(seen, Not(HasSubstr("very-secret-key")));
  run.Order({.dismiss = true});
  run.Wait();
  const std::string log = run.Log();
  EXPECT_THAT(log, HasSubstr("me 0 host algo-1"));
  EXPECT_THAT(log, Not(HasSubstr("\nFOUND")));
  EXPECT_THAT(log, testing::ContainsRegex("127\\.[0-9]+\\.[0-9]+\\.1 +algo-1"));
  EXPECT_THAT(log, HasSubstr("key very-secret-key\n0\n1\n2\n3\n"));  // 3 is ls's own
}

TEST(SandboxRun, BWRAP_IsolationHasNeitherNetworkNorCredentials) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.network_isolation = true;
  run.Shell(
      "echo key=$AWS_ACCESS_KEY_ID url=$AWS_ENDPOINT_URL; cat /proc/net/dev | tail -n +3 | wc -l");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(run.Log(), "key= url=\n1\n");
}

TEST(SandboxRun, BWRAP_StopGivesGraceAndUploads) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell(
      "trap 'echo saved >/opt/ml/model/x; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  const model::Report report = run.Report();
  EXPECT_EQ(report.stopped_for, model::StopReason::kRequested);
  EXPECT_TRUE(report.ended_in_grace);
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_TRUE(report.model_uploaded);
  EXPECT_TRUE(report.began.contains(model::AgentPhase::kStopping));
}

TEST(SandboxRun, BWRAP_DeafProgramIsKilledAfterGrace) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.stop_grace = Millis(200);
  run.Shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  const model::Report report = run.Report();
  EXPECT_FALSE(report.ended_in_grace);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_TRUE(report.model_uploaded);
}

TEST(SandboxRun, BWRAP_DefaultDispositionEndsTheProgram) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.entrypoint = {"/bin/sleep", "1000"};
  run.Start();
  ASSERT_TRUE(run.Until([&] { return run.Report().phase == model::AgentPhase::kTraining; }));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  EXPECT_EQ(run.Report().signal, SIGTERM);
  EXPECT_TRUE(run.Report().ended_in_grace);
}

TEST(SandboxRun, BWRAP_RunLimitStopsWithoutTheDaemon) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.run_limit = Millis(300);
  run.spec.entrypoint = {"/bin/sleep", "1000"};
  const model::Report report = run.Run();
  EXPECT_EQ(report.stopped_for, model::StopReason::kMaxRuntime);
  EXPECT_EQ(report.signal, SIGTERM);
  EXPECT_TRUE(report.model_uploaded);
}

TEST(SandboxRun, BWRAP_ForkedChildrenEndWithTheProgram) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("(setsid sleep 987654 &) ; (trap '' TERM; sleep 987654) & sleep 0.05; exit 0");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0);
  env::PosixFiles files;
  for (const std::string& process : files.List("/proc").value_or(std::vector<std::string>())) {
    const std::string line = files.Read("/proc/" + process + "/cmdline", 1 << 20).value_or("");
    EXPECT_THAT(line, Not(HasSubstr("987654")));
  }
}

TEST(SandboxRun, BWRAP_KilledAgentLeavesNothingRunning) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("(setsid sleep 876543 &); echo ready; sleep 876543");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Kill();
  run.Wait();
  EXPECT_TRUE(run.Until([] {
    env::PosixFiles files;
    for (const std::string& process : files.List("/proc").value_or(std::vector<std::string>())) {
      const auto line = files.Read("/proc/" + process + "/cmdline", 1 << 20);
      if (line && line->find("876543") != std::string::npos &&
          line->find("ready") == std::string::npos)
        return false;
    }
    return true;
  }));
  EXPECT_EQ(run.Report().phase, model::AgentPhase::kTraining) << "no final report";
}

TEST(SandboxRun, BWRAP_MissingProgramBlamesTheRequest) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.entrypoint = {"/no/such/program"};
  const model::Report report = run.Run();
  EXPECT_TRUE(report.error_is_users);
  EXPECT_THAT(report.error,
              HasSubstr("failed to start the program: '/no/such/program': No such file"));
}

TEST(SandboxRun, BWRAP_FailureFileThatIsALinkIsNotFollowed) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell(
      "ln -s /etc/shadow /opt/ml/output/failure; rm -r /opt/ml/model; ln -s /etc /opt/ml/model; "
      "exit 0");
  const model::Report report = run.Run();
  EXPECT_EQ(report.failure_file, "");
  EXPECT_THAT(report.error, HasSubstr("/opt/ml/model was replaced by a symbolic link"));
  EXPECT_TRUE(report.error_is_users);
  EXPECT_FALSE(report.model_uploaded);
  EXPECT_THAT(run.Keys(), testing::IsEmpty()) << "an archive without the model";
}

TEST(SandboxRun, BWRAP_WhatIsNotUploadedIsToldInNotesAndLog) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.compress = false;
  run.spec.model_s3_uri = "s3://bucket/out/model/";
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.Shell(
      "cd /opt/ml/model; echo m >m; ln -s m latest; mkfifo pipe; rm -r ../output/data; "
      "cd /opt/ml/checkpoints; echo c >c; ln -s c last; mkfifo ctl");
  const model::Report report = run.Run();
  EXPECT_EQ(report.error, "");
  EXPECT_TRUE(report.model_uploaded);
  EXPECT_THAT(run.Keys(), testing::ElementsAre("ckpt/c", "out/model/m"));
  for (const char* told :
       {"not uploaded from /opt/ml/model: pipe (FIFO), latest (symbolic link)",
        "/opt/ml/output/data was removed by the program: nothing of it was uploaded"}) {
    EXPECT_THAT(report.notes, testing::Contains(told));
    EXPECT_THAT(run.Log(), HasSubstr(std::string("[sabia] ") + told + "\n"));
  }
  EXPECT_THAT(run.Log(), HasSubstr("not uploaded from /opt/ml/checkpoints, for S3 keeps only"));
  EXPECT_THAT(run.Log(), HasSubstr("last (symbolic link)"));
  EXPECT_THAT(run.Log(), HasSubstr("ctl (FIFO)"));
}

}  // namespace
}  // namespace sabia::agent
