#include "agent/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabia::agent {
namespace {

// Every test runs twice: in a sandbox of our own making, and in bubblewrap's.
class ProgramTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && ::access("/usr/bin/bwrap", X_OK) != 0)
      GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)";
  }
};
INSTANTIATE_TEST_SUITE_P(Both, ProgramTest, testing::Bool(),
                         [](const auto& which) { return which.param ? "BWRAP" : "NATIVE"; });

ProgramOptions Shell(const std::string& script, bool only_bwrap) {
  return {.bwrap = only_bwrap ? "/usr/bin/bwrap" : "/nonexistent/bwrap",
          .sandbox = {"--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/usr",
                      "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                      "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev"},
          .command = {"/bin/sh", "-c", script},
          .v1_tasks = {},
          .v2_group = {},
          .only_bwrap = only_bwrap};
}

ProgramEnd WaitFor(Program& program) {
  while (true) {
    if (const auto end = program.Reap()) return *end;
    for (const int fd : program.WaitFds()) {
      pollfd item{fd, POLLIN, 0};
      ::poll(&item, 1, -1);
    }
  }
}

std::string ReadAll(const env::UniqueFd& fd) {
  std::string out(4096, '\0');
  std::size_t used = 0;
  ssize_t n = 0;
  while (used < out.size() && (n = ::read(fd.get(), out.data() + used, out.size() - used)) > 0) {
    used += static_cast<std::size_t>(n);
  }
  out.resize(used);
  return out;
}

TEST_P(ProgramTest, OutputAndExitCode) {
  Program program;
  ASSERT_TRUE(program.Start(Shell("echo out; echo err >&2; exit 3", GetParam())));
  const env::UniqueFd output = program.TakeOutput();
  EXPECT_EQ(ReadAll(output), "out\nerr\n");
  const ProgramEnd end = WaitFor(program);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.signal);
  EXPECT_FALSE(end.sandbox_failed);
}

TEST_P(ProgramTest, SandboxThatCannotBeMadeIsToldApart) {
  Program program;
  ProgramOptions options = Shell("exit 0", GetParam());
  options.sandbox.insert(options.sandbox.end(), {"--ro-bind", "/nonexistent-source", "/x"});
  if (!GetParam()) {
    const Status started = program.Start(options);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, testing::HasSubstr("/nonexistent-source"));
    return;
  }
  ASSERT_TRUE(program.Start(options));
  const env::UniqueFd output = program.TakeOutput();
  EXPECT_THAT(ReadAll(output), testing::HasSubstr("/nonexistent-source"));
  EXPECT_TRUE(WaitFor(program).sandbox_failed);
}

TEST_P(ProgramTest, SignalsTheProgramOnlyOrAll) {
  Program program;
  EXPECT_FALSE(program.Signal(SIGTERM, false)) << "not started";
  ASSERT_TRUE(program.Start(
      Shell("trap 'exit 9' USR1; echo ready; while :; do /bin/sleep 0.01; done", GetParam())));
  const env::UniqueFd output = program.TakeOutput();
  char byte = 0;
  ASSERT_EQ(::read(output.get(), &byte, 1), 1);
  ASSERT_TRUE(program.Signal(SIGUSR1, false));
  EXPECT_EQ(WaitFor(program).exit_code, 9);
  EXPECT_FALSE(program.Signal(SIGUSR1, false)) << "gone";
}

TEST_P(ProgramTest, KillTakesEverything) {
  Program program;
  ASSERT_TRUE(program.Start(Shell("trap '' TERM; /bin/sleep 1000 & echo ready; wait", GetParam())));
  const env::UniqueFd output = program.TakeOutput();
  char byte = 0;
  ASSERT_EQ(::read(output.get(), &byte, 1), 1);
  program.Kill();
  EXPECT_EQ(WaitFor(program).signal, SIGKILL);
  EXPECT_EQ(ReadAll(output), "eady\n") << "somebody still holds the pipe";
}

TEST_P(ProgramTest, ROOT_CGROUPS2_IsBornInItsGroup) {
  std::string mount;
  for (const char* candidate : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    if (mount.empty() && ::access((std::string(candidate) + "/cgroup.procs").c_str(), W_OK) == 0) {
      mount = candidate;
    }
  }
  if (mount.empty()) GTEST_SKIP() << "needs a writable cgroup v2 hierarchy";
  const env::Path group = env::Path(mount) / ("sabia-test-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkdir(group.c_str(), 0755), 0);
  {
    Program program;
    ProgramOptions options = Shell("echo ready; /bin/sleep 1000", GetParam());
    options.v2_group = group;
    ASSERT_TRUE(program.Start(options));
    const env::UniqueFd output = program.TakeOutput();
    char byte = 0;
    ASSERT_EQ(::read(output.get(), &byte, 1), 1);
    env::PosixFiles files;
    const std::string procs = files.Read(group / "cgroup.procs", 1 << 16).value_or("");
    EXPECT_GE(std::count(procs.begin(), procs.end(), '\n'), GetParam() ? 3 : 2) << procs;
  }  // the destructor kills and waits
  EXPECT_EQ(::rmdir(group.c_str()), 0);
}

}  // namespace
}  // namespace sabia::agent
