// Goal: objects outside reach a program as files, and what they need is checked before they come.
// Method: a real agent with a real sandbox; the S3 endpoint is a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"

namespace sabia::agent {
namespace {

using testing::HasSubstr;

#define SKIP_WITHOUT_BWRAP() \
  if (!AgentRun::Available()) GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

TEST(RemoteRun, BWRAP_FileChannelsComeFromOutside) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a.csv", "1,2\n"}, {"deep/er/b.csv", "3\n"}});
  run.Shell(
      "cd /opt/ml/input/data/train; find . -type f | sort; cat a.csv deep/er/b.csv; "
      "stat -c %Y a.csv; echo more >>a.csv; cat a.csv");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(), "./a.csv\n./deep/er/b.csv\n1,2\n3\n1600000000\n1,2\nmore\n");
}

// Only objects that are encrypted in the embedded store come without a file and without an endpoint
// outside.
TEST(RemoteRun, BWRAP_WhatWasOpenedOfEncryptedObjectsIsNotKept) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a.csv", "a secret\n"}});
  run.spec.external_buckets.clear();
  run.Shell("cat /opt/ml/input/data/train/a.csv");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(), "a secret\n");
  EXPECT_FALSE(std::filesystem::exists(env::Path(run.spec.cache) / "objects"));
}

TEST(RemoteRun, BWRAP_AVolumeThatIsTooSmallIsTheUsersFault) {
  SKIP_WITHOUT_BWRAP();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a.csv", std::string(1000, 'x')}});
  run.spec.volume_bytes = 999;
  run.spec.entrypoint = {"/bin/true"};
  const model::Report report = run.Run();
  EXPECT_FALSE(report.exit_code);
  EXPECT_THAT(report.error, HasSubstr("Data download failed:channel 'train'"));
  EXPECT_THAT(report.error, HasSubstr("VolumeSizeInGB"));
  EXPECT_TRUE(report.error_is_users);
}

}  // namespace
}  // namespace sabia::agent
