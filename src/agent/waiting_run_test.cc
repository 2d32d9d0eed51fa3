// Goal: an agent that stays serves the next instance as a new one would, and hands on nothing of
// the first but the cache.
// Method: a real agent with a real sandbox; needs in the names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

bool Waits(AgentRun& run) {
  return run.Until([&] { return run.Report().phase == model::AgentPhase::kDone; }) &&
         run.Report().stays;
}

void Stay(AgentRun& run, const std::string& script) {
  run.spec.stays = run.spec.keeps_cache = true;
  run.Shell(script);
  run.Start();
}

TEST(WaitingRun, BWRAP_GoesOnInAnotherDirectoryWithTheCacheOnly) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  Stay(run,
       "cd /opt/ml; echo a >model/left; echo b >/tmp/left; echo c >/root/left; echo d "
       ">input/config/left;"
       "echo kept >sagemaker/warmpoolcache/note; (trap '' TERM; sleep 1000) & true");
  ASSERT_TRUE(Waits(run)) << run.Log();
  const int pid = run.Report().pid;
  EXPECT_EQ(run.Object("out/model.tar.gz").substr(0, 2), "\x1f\x8b");

  run.Shell(
      "find / -name left 2>/dev/null; cat /opt/ml/sagemaker/warmpoolcache/note;"
      "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; done; echo $AWS_SECRET_ACCESS_KEY");
  run.spec.id += "-next";
  run.spec.job_name = "next";
  run.spec.secret_access_key = "another-secret-key";
  run.CallTo("next");
  ASSERT_TRUE(Waits(run)) << run.Log();
  EXPECT_EQ(run.Report().pid, pid) << "the same process";
  EXPECT_EQ(run.Report().exit_code, 0);
  EXPECT_THAT(run.Log(), HasSubstr("kept"));
  EXPECT_THAT(run.Log(), Not(HasSubstr("/left\n")));
  EXPECT_THAT(run.Log(), Not(HasSubstr("sleep 1000")));
  EXPECT_THAT(run.Log(), HasSubstr("another-secret-key"));
  EXPECT_THAT(run.Log(), Not(HasSubstr("very-secret-key")));
  run.Kill();
}

TEST(WaitingRun, BWRAP_GivesUpTheLockOfTheDirectoryThatItLeft) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  Stay(run, "true");
  ASSERT_TRUE(Waits(run)) << run.Log();
  const Path first = run.layout().lock();
  EXPECT_TRUE(env::IsLocked(first));
  run.CallTo("next");
  ASSERT_TRUE(Waits(run)) << run.Log();
  EXPECT_FALSE(env::IsLocked(first));
  EXPECT_TRUE(env::IsLocked(run.layout().lock()));
  run.Kill();
}

TEST(WaitingRun, BWRAP_EndsWithItsDirectoryAndWithSigterm) {
  SKIP_WITHOUT_BWRAP();
  AgentRun deserted;
  Stay(deserted, "true");
  ASSERT_TRUE(Waits(deserted)) << deserted.Log();
  // No daemon hears of the last report here, so the agent writes it once more.
  ASSERT_TRUE(deserted.Until(
      [&] { return env::PosixFiles().RemoveTree(deserted.layout().directory()).has_value(); }));
  EXPECT_EQ(deserted.Wait(), 0);

  AgentRun ended;
  Stay(ended, "true");
  ASSERT_TRUE(Waits(ended)) << ended.Log();
  ::kill(ended.pid(), SIGTERM);
  EXPECT_EQ(ended.Wait(), 0);
}

TEST(WaitingRun, BWRAP_RemovesDataAndCredentialsWhenNobodyCalls) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  Stay(run, "echo a >/opt/ml/model/left");
  ASSERT_TRUE(Waits(run)) << run.Log();
  EXPECT_TRUE(run.Until([&] {
    return !std::filesystem::exists(run.layout().root()) &&
           !std::filesystem::exists(run.layout().spec());
  }));
  run.Kill();
}

}  // namespace
}  // namespace sabia::agent
