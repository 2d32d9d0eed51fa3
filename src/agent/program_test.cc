#include "agent/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabia::agent {
namespace {

#define SKIP_WITHOUT_BWRAP()                 \
  if (::access("/usr/bin/bwrap", X_OK) != 0) \
  GTEST_SKIP() << "needs /usr/bin/bwrap (apt-get install bubblewrap)"

ProgramOptions Shell(const std::string& script) {
  return {.bwrap = "/usr/bin/bwrap",
          .sandbox = {"--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/usr",
                      "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                      "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev"},
          .command = {"/bin/sh", "-c", script},
          .v1_tasks = {},
          .v2_group = {}};
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

TEST(Program, BWRAP_OutputAndExitCode) {
  SKIP_WITHOUT_BWRAP();
  Program program;
  ASSERT_TRUE(program.Start(Shell("echo out; echo err >&2; exit 3")));
  const env::UniqueFd output = program.TakeOutput();
  EXPECT_EQ(ReadAll(output), "out\nerr\n");
  const ProgramEnd end = WaitFor(program);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.signal);
  EXPECT_FALSE(end.sandbox_failed);
}

TEST(Program, BWRAP_SandboxThatCannotBeMadeIsToldApart) {
  SKIP_WITHOUT_BWRAP();
  Program program;
  ProgramOptions options = Shell("exit 0");
  options.sandbox.insert(options.sandbox.end(), {"--ro-bind", "/nonexistent-source", "/x"});
  ASSERT_TRUE(program.Start(options));
  const env::UniqueFd output = program.TakeOutput();
  EXPECT_THAT(ReadAll(output), testing::HasSubstr("/nonexistent-source"));
  EXPECT_TRUE(WaitFor(program).sandbox_failed);
}

TEST(Program, BWRAP_SignalsTheProgramOnlyOrAll) {
  SKIP_WITHOUT_BWRAP();
  Program program;
  EXPECT_FALSE(program.Signal(SIGTERM, false)) << "not started";
  ASSERT_TRUE(
      program.Start(Shell("trap 'exit 9' USR1; echo ready; while :; do /bin/sleep 0.01; done")));
  const env::UniqueFd output = program.TakeOutput();
  char byte = 0;
  ASSERT_EQ(::read(output.get(), &byte, 1), 1);
  ASSERT_TRUE(program.Signal(SIGUSR1, false));
  EXPECT_EQ(WaitFor(program).exit_code, 9);
  EXPECT_FALSE(program.Signal(SIGUSR1, false)) << "gone";
}

TEST(Program, BWRAP_KillTakesEverything) {
  SKIP_WITHOUT_BWRAP();
  Program program;
  ASSERT_TRUE(program.Start(Shell("trap '' TERM; /bin/sleep 1000 & echo ready; wait")));
  const env::UniqueFd output = program.TakeOutput();
  char byte = 0;
  ASSERT_EQ(::read(output.get(), &byte, 1), 1);
  program.Kill();
  EXPECT_EQ(WaitFor(program).signal, SIGKILL);
  EXPECT_EQ(ReadAll(output), "eady\n") << "somebody still holds the pipe";
}

TEST(Program, ROOT_CGROUPS2_BWRAP_IsBornInItsGroup) {
  SKIP_WITHOUT_BWRAP();
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
    ProgramOptions options = Shell("echo ready; /bin/sleep 1000");
    options.v2_group = group;
    ASSERT_TRUE(program.Start(options));
    const env::UniqueFd output = program.TakeOutput();
    char byte = 0;
    ASSERT_EQ(::read(output.get(), &byte, 1), 1);
    env::PosixFiles files;
    const std::string procs = files.Read(group / "cgroup.procs", 1 << 16).value_or("");
    EXPECT_GE(std::count(procs.begin(), procs.end(), '\n'), 3) << procs;
  }  // the destructor kills and waits
  EXPECT_EQ(::rmdir(group.c_str()), 0);
}

}  // namespace
}  // namespace sabia::agent
