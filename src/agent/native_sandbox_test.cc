// Goal: a sandbox of our own making holds a program exactly as bubblewrap's does.
// Method: the same options and the same script in both; everything that the script can see of its
// privileges, mounts, files and names must be equal.
#include "agent/native_sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "agent/contract_files.h"
#include "agent/program.h"
#include "agent/sandbox.h"
#include "channels/mounts.h"
#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

using testing::HasSubstr;

TEST(NativeSandbox, RefusesOptionsThatItDoesNotKnow) {
  const std::vector<std::string> command = {"/bin/true"};
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--tmpfs", "/x"},
                                             {"--ro-bind", "/usr"},
                                             {"--bind"},
                                             {"--uid", "1"},
                                             {"--cap-add", "CAP_SYS_ADMIN"},
                                             {"--dev", "/device"},
                                             {"--setenv", "A"},
                                             {"--clearenv", "--share-net"}}) {
    const auto plan = NativeSandbox::Plan(options, command);
    ASSERT_FALSE(plan) << options.front();
    EXPECT_EQ(plan.error().code, ErrorCode::kUnimplemented);
  }
  EXPECT_TRUE(NativeSandbox::Plan({"--bind", "/a", "/b", "--setenv", "A", ""}, command));
}

class NativeSandboxRun : public testing::Test {
 protected:
  NativeSandboxRun() : layout_(temporary_.path() / "instance") {
    env::PosixFiles files;
    spec_.host = "algo-1";
    spec_.hosts = {"algo-1"};
    spec_.python = "/usr/bin/python3";
    spec_.secret_access_key = "very-secret-key";
    for (const Path& path : {layout_.root(), layout_.data() / "view", temporary_.path() / "lower",
                             layout_.code(), temporary_.path() / "aws-models"})
      EXPECT_TRUE(files.MakeDirectories(path));
    EXPECT_TRUE(MakeInstanceTree(layout_));
    EXPECT_TRUE(PrepareSandboxFiles(spec_, layout_, {}, false));
  }

  struct Outcome {
    ProgramEnd end;
    std::string output;
  };

  Outcome Run(const std::vector<std::string>& command, bool only_bwrap) {
    auto options = SandboxOptions(spec_, layout_, {.self_exe = "/bin/true"},
                                  {{temporary_.path() / "lower", "/opt/ml/input/data/view"}});
    EXPECT_TRUE(options);
    Program program;
    const Status started = program.Start({.bwrap = only_bwrap ? "/usr/bin/bwrap" : "/nonexistent",
                                          .sandbox = *options,
                                          .command = command,
                                          .v1_tasks = {},
                                          .v2_group = {},
                                          .only_bwrap = only_bwrap});
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    Outcome out;
    const env::UniqueFd output = program.TakeOutput();
    std::array<char, 4096> buffer{};
    ssize_t n = 0;
    while ((n = ::read(output.get(), buffer.data(), buffer.size())) > 0)
      out.output.append(buffer.data(), static_cast<std::size_t>(n));
    while (true) {
      if (const auto end = program.Reap()) {
        out.end = *end;
        return out;
      }
      for (const int fd : program.WaitFds()) {
        pollfd item{fd, POLLIN, 0};
        ::poll(&item, 1, -1);
      }
    }
  }

  std::string Both(const std::string& script) {
    const Outcome ours = Run({"/bin/sh", "-c", script}, false);
    EXPECT_EQ(ours.end.exit_code, 0) << ours.output;
    EXPECT_FALSE(ours.end.sandbox_failed);
    EXPECT_EQ(ours.output, Run({"/bin/sh", "-c", script}, true).output);
    return ours.output;
  }

  env::TemporaryDirectory temporary_;
  model::InstanceSpec spec_;
  Layout layout_;
};

#define SKIP_WITHOUT_BWRAP() \
  if (::access("/usr/bin/bwrap", X_OK) != 0) GTEST_SKIP() << "needs bubblewrap to compare with"

TEST_F(NativeSandboxRun, BWRAP_PrivilegesAndNamesAreTheSame) {
  SKIP_WITHOUT_BWRAP();
  // Without CapAmb: ambient capabilities are for programs that are not root, of which there are
  // none.
  const std::string seen = Both(
      "grep -E "
      "'^(Uid|Gid|Groups|Cap[IPEB]|NoNewPrivs|Seccomp|SigBlk|SigIgn|SigCgt|NSpid|NSsid|PPid)' "
      "/proc/self/status; cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups; "
      "hostname; "
      "cat /proc/self/cgroup; env | sort; pwd; umask; ls /proc/self/fd; ulimit -a; "
      "for s in user mnt pid ipc uts cgroup net; do test -e /proc/self/ns/$s || echo no $s; done");
  EXPECT_THAT(seen, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(seen, HasSubstr("algo-1\n"));
}

TEST_F(NativeSandboxRun, BWRAP_MountsAndFilesAreTheSame) {
  SKIP_WITHOUT_BWRAP();
  // Place and options of each mount; /dev is a part of the root here and a mount of its own there.
  Both("awk '$5 != \"/dev\" {print $5, $6}' /proc/self/mountinfo | sort");
  Both(
      "ls -la / /dev /dev/pts /opt /opt/ml /opt/ml/input/data /opt/sabia/bin /tmp /root /proc/sys "
      "| grep -v '^total' | grep -vE ' (\\.|\\.\\.)$' | awk '{print ($NF ~ /^(opt|sabia)$/ ? \"\" "
      ": $1), $3, $4, $NF}' | grep -v "
      "'^dr-xr-xr-x 65534 65534 [0-9]'; ls /etc /etc/ssl /usr; readlink /bin /lib /dev/fd "
      "/dev/ptmx");
  Both(
      "for f in /x /usr/x /etc/x /opt/x /opt/ml/x /opt/ml/input/data/view/x /tmp/x /root/x /dev/x "
      "/dev/shm/x /opt/sabia/bin/x /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/irq/x; do "
      "(echo 1 >$f) 2>&1; done; echo done; echo gone >/dev/null; head -c 3 /dev/zero | wc -c; "
      "mount -t tmpfs none /mnt 2>&1; mknod /tmp/null c 1 3 2>&1; chroot / true 2>&1; "
      "chown 1:1 /tmp/x 2>&1; mount -o remount,rw /usr 2>&1; umount /proc 2>&1; echo done");
}

TEST_F(NativeSandboxRun, BWRAP_IsolationIsTheSame) {
  SKIP_WITHOUT_BWRAP();
  spec_.network_isolation = true;
  const std::string seen = Both(
      "cat /proc/net/dev | cut -d: -f1; cat /proc/net/route; cat /proc/net/fib_trie; "
      "cat /sys/class/net/lo/operstate 2>&1; python3 -c '\n"
      "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()\n"
      "c = socket.create_connection(s.getsockname()); print(c.getpeername()[0])'");
  EXPECT_THAT(seen, HasSubstr("127.0.0.1\n"));
}

TEST_F(NativeSandboxRun, PidOneShowsNothing) {
  const Outcome seen =
      Run({"/bin/sh", "-c",
           "tr '\\0' ' ' </proc/1/cmdline >/dev/null || echo no cmdline; cat /proc/1/environ; "
           "cat /proc/1/fd/3; ls /proc/1/root; cat /proc/1/maps; readlink /proc/1/exe; "
           "kill -9 1; kill -STOP 1; ls /proc | grep -x '[12]' | xargs"},
          false);
  EXPECT_EQ(seen.end.exit_code, 0) << seen.output;
  EXPECT_THAT(seen.output, HasSubstr("environ: Permission denied"));
  EXPECT_THAT(seen.output, HasSubstr("fd/3: Permission denied"));
  EXPECT_THAT(seen.output, HasSubstr("/proc/1/root': Permission denied"));
  EXPECT_THAT(seen.output, HasSubstr("\n1 2\n"));
  EXPECT_THAT(seen.output, testing::Not(HasSubstr("very-secret")));
}

TEST_F(NativeSandboxRun, FindsProgramsAsAShellDoes) {
  EXPECT_EQ(Run({"true"}, false).end.exit_code, 0);
  const Outcome missing = Run({"no-such-program"}, false);
  EXPECT_TRUE(missing.end.sandbox_failed);
  EXPECT_EQ(missing.output, "sabia: execvp no-such-program: No such file or directory\n");
  const Outcome denied = Run({"/etc/passwd"}, false);
  EXPECT_TRUE(denied.end.sandbox_failed);
  EXPECT_EQ(denied.output, "sabia: execvp /etc/passwd: Permission denied\n");
  env::PosixFiles files;
  ASSERT_TRUE(files.WriteAtomically(layout_.code() / "plain", "echo shell $0 $1; exit 4",
                                    {.mode = 0755, .durability = env::Durability::kVolatile}));
  const Outcome script = Run({"/opt/ml/code/plain", "word"}, false);
  EXPECT_EQ(script.end.exit_code, 4);
  EXPECT_EQ(script.output, "shell /opt/ml/code/plain word\n");
}

TEST_F(NativeSandboxRun, OrphansEndWithTheProgram) {
  const Outcome out = Run({"/bin/sh", "-c", "(sleep 1000 & echo started) & wait; exit 5"}, false);
  EXPECT_EQ(out.end.exit_code, 5);
  EXPECT_EQ(out.output, "started\n");  // and the output closed, so the sleeper is gone
}

}  // namespace
}  // namespace sabia::agent
