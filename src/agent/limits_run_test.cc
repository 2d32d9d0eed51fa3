// Goal: a program that misbehaves costs its own job only, and the report says what happened.
// Method: a real agent with a real sandbox; needs in the names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/cgroup.h"
#include "agent/link.h"
#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

using testing::HasSubstr;

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

bool MemoryCanBeLimited() {
  env::PosixFiles files;
  Cgroup probe("sabia-probe-" + std::to_string(::getpid()));
  probe.Create(FindHierarchies(files.Read("/proc/self/mountinfo", 1 << 20).value_or(""),
                               files.Read("/proc/self/cgroup", 1 << 20).value_or("")),
               {.memory_bytes = 64 << 20});
  const bool possible = probe.notes().empty();
  probe.Remove();
  return possible;
}

TEST(LimitsRun, ROOT_CGROUP_BWRAP_OutOfMemoryIsTold) {
  SKIP_WITHOUT_BWRAP();
  if (!MemoryCanBeLimited())
    GTEST_SKIP() << "needs a writable control group with the memory controller";
  AgentRun run;
  run.spec.memory_bytes = 64 << 20;
  run.spec.entrypoint = {"/usr/bin/python3", "-c", "x = bytearray(1 << 30)"};
  const model::Report report = run.Run();
  EXPECT_TRUE(report.out_of_memory) << run.Log();
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_TRUE(report.notes.empty());
}

TEST(LimitsRun, BWRAP_FloodOfLogAndEndlessLineCostNoMemory) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.metrics = {{"loss", "loss=(\\d+)"}};
  // 100 MB without a newline, then many short lines, then the metric.
  run.Shell(
      "head -c 100000000 /dev/zero | tr '\\0' x; echo; yes short | head -n 1000000; echo loss=7");
  run.Start();
  long peak_kib = 0;
  env::PosixFiles files;
  const std::string status = "/proc/" + std::to_string(run.pid()) + "/status";
  ASSERT_TRUE(run.Until([&] {
    const std::string text = files.Read(status, 1 << 20).value_or("");
    const auto at = text.find("VmHWM:");
    if (at != text.npos) peak_kib = std::max(peak_kib, std::stol(text.substr(at + 6)));
    return run.Report().phase == model::AgentPhase::kDone;
  }));
  run.Wait();
  EXPECT_EQ(run.Report().exit_code, 0);
#ifdef __SANITIZE_ADDRESS__
  constexpr long kPeakKib = 160 << 10;  // red zones and the quarantine of freed blocks
#else
  constexpr long kPeakKib = 64 << 10;
#endif
  EXPECT_LT(peak_kib, kPeakKib);
  ASSERT_EQ(run.Report().metrics.size(), 1u);
  EXPECT_DOUBLE_EQ(run.Report().metrics[0].value, 7);
}

TEST(LimitsRun, BWRAP_PartialLineIsVisibleBeforeItsEnd) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("printf 'progress 50%%'; sleep 1000");
  run.Start();
  EXPECT_TRUE(run.UntilLogged("progress 50%"));
  run.Order({.dismiss = true});
  run.Wait();
}

TEST(LimitsRun, BWRAP_DismissEndsWithoutUploads) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("trap '' TERM; echo ready; sleep 1000");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Order({.dismiss = true});
  run.Wait();
  EXPECT_EQ(run.Report().phase, model::AgentPhase::kDone);
  EXPECT_TRUE(run.Keys().empty());
  EXPECT_TRUE(std::filesystem::is_empty(run.layout().tmp()));
}

TEST(LimitsRun, BWRAP_StopBeforeTheStartRunsNothing) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Order({.stop = model::StopReason::kRequested});
  run.Shell("echo ran");
  const model::Report report = run.Run();
  EXPECT_EQ(report.phase, model::AgentPhase::kDone);
  EXPECT_EQ(report.stopped_for, model::StopReason::kRequested);
  EXPECT_FALSE(report.exit_code);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(run.Log(), "");
}

TEST(LimitsRun, BWRAP_EarlyStopIsDeliveredOnceTheProgramIsThere) {
  SKIP_WITHOUT_BWRAP();
  for (int i = 0; i < 5; ++i) {
    AgentRun run;
    run.spec.entrypoint = {"/bin/sleep", "1000"};
    run.Start();
    ASSERT_TRUE(run.Until([&] { return std::filesystem::exists(run.layout().poke()); }));
    run.Order({.stop = model::StopReason::kRequested});
    run.Wait();
    const model::Report report = run.Report();
    EXPECT_TRUE(report.signal == SIGTERM || !report.exit_code) << "ended by other means";
  }
}

TEST(LimitsRun, BWRAP_SigtermReachesEveryProcessWhenAsked) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.signal_all_processes = true;
  // The first process ignores the signal, as shells that do not forward do; its child listens.
  run.Shell(
      "trap '' TERM; (trap 'echo child got it; exit' TERM; echo ready; while :; do sleep 0.01; "
      "done) & "
      "while kill -0 $! 2>/dev/null; do sleep 0.01; done; exit 5");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  EXPECT_THAT(run.Log(), HasSubstr("child got it"));
  EXPECT_EQ(run.Report().exit_code, 5);
}

TEST(LimitsRun, BWRAP_HostsWaitAndOneUploadsForAll) {
  SKIP_WITHOUT_BWRAP();
  AgentRun first;
  AgentRun second;
  for (AgentRun* run : {&first, &second}) {
    run->spec.hosts = {"algo-1", "algo-2"};
    run->spec.upload_on_exit = false;
    run->spec.compress = false;
    run->spec.model_s3_uri = "s3://bucket/out/model/";
    run->spec.output_s3_uri = "s3://bucket/out/data/";
  }
  second.spec.host = "algo-2";
  first.Shell("echo 1 >/opt/ml/model/one; getent hosts algo-2 >/dev/null && echo peer");
  second.Shell("echo 2 >/opt/ml/model/two; echo o >/opt/ml/output/data/o");
  first.Start();
  second.Start();
  for (AgentRun* run : {&first, &second}) {
    ASSERT_TRUE(run->Until([&] { return run->Report().phase == model::AgentPhase::kExited; }));
    EXPECT_EQ(run->Report().exit_code, 0);
  }
  first.Order({.upload = true, .merge_from = {second.layout().directory().native()}});
  first.Wait();
  second.Order({.dismiss = true});
  second.Wait();
  EXPECT_EQ(first.Log(), "peer\n");
  EXPECT_TRUE(first.Report().model_uploaded);
  EXPECT_FALSE(second.Report().model_uploaded);
  EXPECT_THAT(first.Keys(), testing::ElementsAre("out/data/o", "out/model/one", "out/model/two"));
}

TEST(LimitsRun, BWRAP_NoticeAfterTheEndStillUploads) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.upload_on_exit = false;
  run.Shell("echo m >/opt/ml/model/m");
  run.Start();
  ASSERT_TRUE(run.Until([&] { return run.Report().phase == model::AgentPhase::kExited; }));
  run.Order({.stop = model::StopReason::kInterrupted,
             .kill_at = env::PosixClock().Wall() + Millis(20'000),
             .upload = true});
  run.Wait();
  EXPECT_TRUE(run.Report().model_uploaded);
  EXPECT_FALSE(run.Report().began.contains(model::AgentPhase::kStopping));
}

TEST(LimitsRun, BWRAP_WaitingForOrdersCostsNoCpu) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.upload_on_exit = false;
  run.spec.stop_grace = Millis(1);
  run.spec.entrypoint = {"/bin/true"};
  run.Start();
  ASSERT_TRUE(run.Until([&] { return run.Report().phase == model::AgentPhase::kExited; }));
  run.Order({.stop = model::StopReason::kRequested});  // after the end, with all deadlines past
  ASSERT_TRUE(run.Until([&] { return run.Switches() >= 0; }));
  const long before = run.Switches();
  ::poll(nullptr, 0, 300);
  EXPECT_LT(run.Switches() - before, 20) << "a busy loop";
  run.Order({.dismiss = true});
  run.Wait();
}

TEST(LimitsRun, BWRAP_OthersCannotEnterTheDirectory) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("cp /bin/true /opt/ml/model/t; chmod u+s /opt/ml/model/t");
  EXPECT_EQ(run.Run().exit_code, 0);
  struct stat info {};
  ASSERT_EQ(::stat(run.layout().directory().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
}

TEST(LimitsRun, BWRAP_UploadFailuresAreTold) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.spec.model_s3_uri = "s3://no-such-bucket/model.tar.gz";
  run.spec.entrypoint = {"/bin/true"};
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_FALSE(report.model_uploaded);
  EXPECT_TRUE(report.error_is_users);
  EXPECT_THAT(report.error, HasSubstr("no-such-bucket"));
}

TEST(LimitsRun, BWRAP_SecondAgentInTheSameDirectoryGivesUp) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.Shell("echo ready; sleep 1000");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("ready"));
  EXPECT_FALSE(Link::Open(run.layout()));
  run.Order({.dismiss = true});
  run.Wait();
  EXPECT_TRUE(Link::Open(run.layout())) << "the lock is free again";
}

// Everything must also work for a user without privileges: the child gives them up first.
TEST(LimitsRun, ROOT_BWRAP_WorksWithoutPrivileges) {
  SKIP_WITHOUT_BWRAP();
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  AgentRun run;
  run.run_as = 65534;
  run.spec.checkpoint_s3_uri = "s3://bucket/ckpt";
  run.AddChannel("train", {{"d/a.csv", "1,2\n"}});
  run.Shell(
      "id -u; echo more >>/opt/ml/input/data/train/d/a.csv; cat /opt/ml/input/data/train/d/a.csv; "
      "echo m >/opt/ml/model/m; echo c >/opt/ml/checkpoints/c");
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(), "0\n1,2\nmore\n");
  EXPECT_THAT(run.Keys(), testing::ElementsAre("ckpt/c", "out/model.tar.gz"));
  env::PosixFiles files;
  EXPECT_EQ(files.Read(run.blob("d/a.csv"), 100).value_or("?"), "1,2\n");
}

}  // namespace
}  // namespace sabia::agent
