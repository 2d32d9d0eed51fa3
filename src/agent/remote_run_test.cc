// Goal: objects outside reach a program as files, and what they need is checked before they come.
// Method: a real agent with a real sandbox; the S3 endpoint is a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

// Root owns /dev/fuse on machines without udev; elsewhere everybody may open it.
#define SKIP_WITHOUT_FUSE() \
  if (::access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/fuse"

const model::ChannelReport* ChannelOf(const model::Report& report, const std::string& name) {
  for (const model::ChannelReport& channel : report.channels) {
    if (channel.name == name) return &channel;
  }
  return nullptr;
}

TEST(RemoteRun, BWRAP_FUSE_FastFileChannelsAreReadOnDemand) {
  SKIP_WITHOUT_BWRAP();
  SKIP_WITHOUT_FUSE();
  AgentRun run;
  const auto fast = model::InputMode::kFastFile;
  run.AddRemoteChannel("train", {{"a.csv", "1,2\n"}, {"deep/er/b.csv", std::string(3 << 20, 'b')}},
                       fast);
  run.AddRemoteChannel("test", {{"c", "3\n"}}, fast);
  run.spec.volume_bytes = 1;  // nothing is downloaded
  run.Shell(
      "cd /opt/ml/input/data/train; find . -type f | sort; cat a.csv ../test/c; wc -c "
      "<deep/er/b.csv; tr -d b <deep/er/b.csv | wc -c; stat -c %Y a.csv; touch new; echo more "
      ">>a.csv; rm a.csv; cat a.csv");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_THAT(run.Log(), HasSubstr("./a.csv\n./deep/er/b.csv\n1,2\n3\n3145728\n0\n1600000000\n"));
  EXPECT_THAT(run.Log(), HasSubstr("Read-only file system"));
  EXPECT_TRUE(run.Log().ends_with("1,2\n")) << run.Log();
  const model::ChannelReport* train = ChannelOf(report, "train");
  ASSERT_NE(train, nullptr);
  EXPECT_EQ(train->way, "stream");
  EXPECT_EQ(train->bytes, (3 << 20) + 4);
  EXPECT_GE(train->fetched, (3 << 20) + 4);
  EXPECT_LE(train->fetched, 4 << 20);
  EXPECT_GT(train->reads, 1);
  ASSERT_NE(ChannelOf(report, "test"), nullptr);
  EXPECT_FALSE(std::filesystem::exists(run.layout().scratch() / "channels"));
}

TEST(RemoteRun, BWRAP_FUSE_AnObjectThatIsGoneFailsTheJob) {
  SKIP_WITHOUT_BWRAP();
  SKIP_WITHOUT_FUSE();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a", "hello"}, {"b", "world"}}, model::InputMode::kFastFile);
  CHECK(run.s3().Delete({"bucket", "train/b"}));
  run.Shell("cat /opt/ml/input/data/train/a; cat /opt/ml/input/data/train/b");
  const model::Report report = run.Run();
  EXPECT_NE(report.exit_code.value_or(0), 0) << "its error, or the SIGTERM that follows";
  EXPECT_THAT(report.error,
              HasSubstr("Data download failed:channel 'train' from s3://bucket/train"));
  EXPECT_TRUE(report.error_is_users);
  EXPECT_THAT(run.Log(), HasSubstr("hello"));
}

TEST(RemoteRun, BWRAP_FUSE_AStopEndsReadersOfAnEndpointThatIsAway) {
  SKIP_WITHOUT_BWRAP();
  SKIP_WITHOUT_FUSE();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a", std::string(1000, 'x')}}, model::InputMode::kFastFile);
  run.s3().SetAway(true);
  run.spec.stop_grace = Millis(100);
  run.Shell("trap '' TERM; echo begun; cat /opt/ml/input/data/train/a");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("begun"));
  model::Orders orders;
  orders.stop = model::StopReason::kRequested;
  orders.dismiss = false;
  run.Order(orders);
  // The program ends; its artifacts cannot be uploaded while the endpoint is away.
  ASSERT_TRUE(run.Until([&] { return run.Report().exit_code.has_value(); }));
  run.s3().SetAway(false);
  EXPECT_EQ(run.Wait(), 0);
}

TEST(RemoteRun, BWRAP_FUSE_NothingIsLeftOfAnAgentThatIsKilled) {
  SKIP_WITHOUT_BWRAP();
  SKIP_WITHOUT_FUSE();
  AgentRun run;
  run.AddRemoteChannel("train", {{"a", std::string(1000, 'x')}}, model::InputMode::kFastFile);
  run.s3().SetAway(true);
  run.Shell("echo begun; cat /opt/ml/input/data/train/a");
  run.Start();
  ASSERT_TRUE(run.UntilLogged("begun"));
  ::poll(nullptr, 0, 50);  // the read waits, most likely; if not, the test proves less
  run.Kill();
  EXPECT_EQ(run.Wait(), 128 + SIGKILL);
  env::PosixFiles files;
  EXPECT_TRUE(run.Until([&] { return bool{files.RemoveTree(run.layout().directory())}; }));
  EXPECT_FALSE(std::filesystem::exists(run.layout().directory()));
}

TEST(RemoteRun, BWRAP_AFastFileChannelIsDownloadedWhereFuseIsNotAllowed) {
  SKIP_WITHOUT_BWRAP();
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody who may not use FUSE";
  struct stat device {};
  if (::stat("/dev/fuse", &device) == 0 && (device.st_mode & S_IROTH) != 0)
    GTEST_SKIP() << "everybody may use /dev/fuse here";
  AgentRun run;
  run.run_as = 12'345;
  run.AddRemoteChannel("train", {{"a", "hello"}}, model::InputMode::kFastFile);
  run.Shell("cat /opt/ml/input/data/train/a");
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(run.Log(), "hello\n");
  ASSERT_FALSE(report.notes.empty());
  EXPECT_THAT(
      report.notes.front(),
      HasSubstr("channel 'train' was downloaded before the program: failed to open /dev/fuse"));
}

}  // namespace
}  // namespace sabia::agent
