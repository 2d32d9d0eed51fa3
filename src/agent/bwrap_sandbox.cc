#include "agent/bwrap_sandbox.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

Result<env::UniqueFd> MemoryFile(const std::vector<std::string>& arguments) {
  env::UniqueFd fd(::memfd_create("sandbox", MFD_CLOEXEC));
  if (!fd) return FailErrno(errno, "failed to make a memory file");
  std::string content;
  for (const std::string& argument : arguments) content.append(argument).push_back('\0');
  RETURN_IF_ERROR(env::WriteAll(fd.get(), content));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

// Everything the child needs, made before fork: between fork and exec only async-signal-safe calls
// are allowed.
struct ChildPlan {
  const char* bwrap;
  std::vector<char*> argv;
  std::vector<const char*> joins;  // files of control groups to write oneself into
  int null_fd;
  int output_fd;
  std::array<int, 2> passed;  // descriptors that bwrap must inherit
};

[[noreturn]] void RunChild(const ChildPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == 1) ::_exit(127);  // the agent died before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  for (const char* path : plan.joins) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    // A group that vanished since it was made is not worth losing the job: it runs without that
    // limit.
    if (fd >= 0) (void)!::write(fd, "0", 1);
    if (fd >= 0) ::close(fd);
  }
  ::dup2(plan.null_fd, 0);
  ::dup2(plan.output_fd, 1);
  ::dup2(plan.output_fd, 2);
  // Whatever the agent inherited without the close-on-exec mark is none of the program's business.
  ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int fd : plan.passed) ::fcntl(fd, F_SETFD, 0);
  // An environment of our own making: the program's variables (LD_PRELOAD among them) must not
  // reach bwrap itself.
  const std::array<char*, 2> environment = {const_cast<char*>("LANG=C.UTF-8"), nullptr};
  ::execve(plan.bwrap, plan.argv.data(), environment.data());
  constexpr std::string_view kText = "sabia: failed to run bubblewrap\n";
  (void)!::write(2, kText.data(), kText.size());
  ::_exit(127);
}

// Like fork, but the child is born in the group. -1 when the kernel does not know how (before 5.7)
// or refuses.
pid_t ForkInto(const env::Path& group) {
  const auto fd = env::OpenFile(group, O_RDONLY | O_DIRECTORY);
  if (!fd) return -1;
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<std::uint64_t>(fd->get());
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

}  // namespace

Result<pid_t> StartBwrap(const BwrapOptions& options, const SandboxStart& start) {
  ASSIGN_OR_RETURN(const env::UniqueFd arguments, MemoryFile(options.sandbox));
  std::vector<std::string> argv = {"bwrap",
                                   "--args",
                                   std::to_string(arguments.get()),
                                   "--json-status-fd",
                                   std::to_string(start.status_fd),
                                   "--"};
  argv.insert(argv.end(), options.command.begin(), options.command.end());
  ChildPlan plan{options.bwrap.c_str(),
                 {},
                 {},
                 start.null_fd,
                 start.output_fd,
                 {arguments.get(), start.status_fd}};
  for (std::string& argument : argv) plan.argv.push_back(argument.data());
  plan.argv.push_back(nullptr);
  for (const env::Path& path : start.v1_tasks) plan.joins.push_back(path.c_str());

  const env::Path v2_procs = start.v2_group.empty() ? env::Path() : start.v2_group / "cgroup.procs";
  pid_t pid = start.v2_group.empty() ? -1 : ForkInto(start.v2_group);
  if (pid < 0) {
    if (!v2_procs.empty()) plan.joins.push_back(v2_procs.c_str());
    pid = ::fork();
  }
  if (pid < 0) return FailErrno(errno, "failed to fork");
  if (pid == 0) RunChild(plan);
  return pid;
}

}  // namespace sabia::agent
