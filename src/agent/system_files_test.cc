// Goal: a program cannot tell whether its system files are its job's own or shared.
// Method: the same script in a sandbox with either; in a child, which enters a mount namespace.
#include "agent/system_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>

#include "agent/contract_files.h"
#include "agent/program.h"
#include "agent/sandbox.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

using ::testing::HasSubstr;

constexpr int kCannotMount = 77;

class SystemFiles : public ::testing::Test {
 protected:
  SystemFiles() : layout_(base_.path() / "instance") {
    spec_.host = "algo-1";
    spec_.hosts = {"algo-1"};
    spec_.python = "/usr/bin/python3";
    spec_.config_files = {{"trainingjobconfig.json", "{}"}};
    for (const Path& path : {layout_.directory(), base_.path() / "system", base_.path() / "aws"})
      EXPECT_TRUE(files_.MakeDirectories(path));
    EXPECT_TRUE(MakeInstanceTree(layout_));
  }

  // What the script prints.
  std::string Run(const std::string& script, const SharedSystem* shared) {
    SandboxPaths paths;
    paths.shared = shared;
    CHECK(PrepareSandboxFiles(spec_, layout_, paths, false));
    const auto options = SandboxOptions(spec_, layout_, paths, {});
    CHECK(options);
    Program program;
    const Status started = program.Start({.bwrap = paths.bwrap,
                                          .sandbox = *options,
                                          .command = {"/bin/sh", "-c", script},
                                          .v1_tasks = {},
                                          .v2_group = {}});
    if (!started) return std::string(started.error().message);
    std::string out;
    const env::UniqueFd output = program.TakeOutput();
    std::array<char, 4096> buffer{};
    ssize_t n = 0;
    while ((n = ::read(output.get(), buffer.data(), buffer.size())) > 0)
      out.append(buffer.data(), static_cast<std::size_t>(n));
    while (!program.Reap()) {
      for (const int fd : program.WaitFds()) {
        pollfd item{fd, POLLIN, 0};
        ::poll(&item, 1, -1);
      }
    }
    return out;
  }

  // In a child: both outputs into files "own" and "shared".
  void RunBoth(const std::string& script) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Child(script));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kCannotMount) GTEST_SKIP() << "mounts are forbidden here";
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }

  int Child(const std::string& script) {
    if (!WriteContractFiles(spec_, layout_.config())) return 1;
    const std::string own = Run(script, nullptr);
    auto shared = SharedSystem::Make(base_.path() / "system", spec_.python);
    if (!shared) return kCannotMount;
    if (!shared->Fits(spec_) || !shared->MakeOwn()) return 2;
    if (!files_.MakeDirectories(SharedConfig(*shared))) return 3;
    if (!WriteContractFiles(spec_, SharedConfig(*shared))) return 4;
    if (!WriteHosts(spec_, SharedHosts(*shared))) return 5;
    Save("own", own);
    Save("shared", Run(script, &*shared));
    model::InstanceSpec other = spec_;
    other.python = "/opt/other/bin/python3";
    if (shared->Fits(other)) return 6;
    other = spec_;
    other.image = model::ImageKind::kXgboost;
    if (shared->Fits(other)) return 7;
    shared->Forget(::getpid());
    return *files_.Exists(shared->own()) ? 8 : 0;
  }

  void Save(const std::string& name, const std::string& text) {
    CHECK(files_.WriteAtomically(base_.path() / name, text,
                                 {.mode = 0600, .durability = env::Durability::kVolatile}));
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
  model::InstanceSpec spec_;
  Layout layout_;
};

TEST_F(SystemFiles, BWRAP_SharedOnesLookLikeTheJobsOwn) {
  RunBoth(
      "ls -A /etc /etc/ssl /etc/alternatives /opt/sabia/bin /opt/ml/input/config; "
      "cat /etc/hosts /etc/passwd /etc/nsswitch.conf /opt/ml/input/config/*; "
      "cat /etc/ld.so.cache /etc/services | cksum; ls /etc/ssl/certs | wc -l; "
      "python3 -c 'print(40 + 2)'; "
      "for f in /etc/x /etc/hosts /etc/ssl/x /etc/ssl/certs/x /opt/sabia/bin/x /opt/sabia/bin/pip "
      "/opt/ml/input/config/x; do (echo x >>$f) 2>/dev/null && echo may write $f; done; true");
  if (IsSkipped()) return;
  const std::string own = files_.Read(base_.path() / "own", 1 << 20).value_or("");
  EXPECT_EQ(own, files_.Read(base_.path() / "shared", 1 << 20).value_or("none"));
  EXPECT_THAT(own, HasSubstr("algo-1"));
  EXPECT_THAT(own, HasSubstr("42\n"));
  EXPECT_THAT(own, HasSubstr("may write /opt/ml/input/config/x"));
  EXPECT_THAT(own, ::testing::Not(HasSubstr("may write /etc")));
}

}  // namespace
}  // namespace sabia::agent
