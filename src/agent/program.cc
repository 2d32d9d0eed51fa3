#include "agent/program.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/json.h"

namespace sabia::agent {
namespace {

constexpr int kSandboxProgram = 2;
// bwrap says its child's pid within a millisecond or so of starting; a machine under load may need
// longer.
constexpr int kStatusWaitMs = 2'000;

struct Pipe {
  env::UniqueFd read;
  env::UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno(errno, "failed to make a pipe");
  return Pipe{env::UniqueFd(ends[0]), env::UniqueFd(ends[1])};
}

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

std::string ReadProcFile(const std::string& path) {
  auto fd = env::OpenFile(path, O_RDONLY);
  if (!fd) return {};
  std::string out(4096, '\0');
  const ssize_t n = ::read(fd->get(), out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

// The pid inside the innermost namespace: the last number of the NSpid line.
int InnermostPid(pid_t pid) {
  const std::string status = ReadProcFile(fmt::format("/proc/{}/status", pid));
  const auto at = status.find("\nNSpid:");
  if (at == status.npos) return 0;
  const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
  const auto tab = line.find_last_of("\t ");
  int out = 0;
  std::from_chars(line.data() + tab + 1, line.data() + line.size(), out);
  return out;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  const std::string text = ReadProcFile(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::vector<pid_t> out;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    pid_t child = 0;
    const auto parsed = std::from_chars(at, end, child);
    if (parsed.ec != std::errc()) break;
    out.push_back(child);
    at = parsed.ptr + 1;
  }
  return out;
}

ino_t PidNamespace(const std::string& pid) {
  struct stat info {};
  return ::stat(("/proc/" + pid + "/ns/pid").c_str(), &info) == 0 ? info.st_ino : 0;
}

int PidFd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

bool Readable(int fd, int timeout_ms) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, timeout_ms) > 0;
}

}  // namespace

Program::~Program() {
  if (!started()) return;
  Kill();
  while (!Reap()) {
    for (const int fd : WaitFds()) Readable(fd, -1);
  }
}

Status Program::Start(const ProgramOptions& options) {
  // Orphans of bwrap (PID 1 of the sandbox) come to us instead of to the machine's init, so that we
  // can collect them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  ASSIGN_OR_RETURN(Pipe status, MakePipe());
  ASSIGN_OR_RETURN(const env::UniqueFd null, env::OpenFile("/dev/null", O_RDONLY));
  ASSIGN_OR_RETURN(const env::UniqueFd arguments, MemoryFile(options.sandbox));

  std::vector<std::string> argv = {"bwrap",
                                   "--args",
                                   std::to_string(arguments.get()),
                                   "--json-status-fd",
                                   std::to_string(status.write.get()),
                                   "--"};
  argv.insert(argv.end(), options.command.begin(), options.command.end());
  ChildPlan plan{options.bwrap.c_str(),
                 {},
                 {},
                 null.get(),
                 output.write.get(),
                 {arguments.get(), status.write.get()}};
  for (std::string& argument : argv) plan.argv.push_back(argument.data());
  plan.argv.push_back(nullptr);
  for (const env::Path& path : options.v1_tasks) plan.joins.push_back(path.c_str());

  const env::Path v2_procs =
      options.v2_group.empty() ? env::Path() : options.v2_group / "cgroup.procs";
  pid_t pid = options.v2_group.empty() ? -1 : ForkInto(options.v2_group);
  if (pid < 0) {
    if (!v2_procs.empty()) plan.joins.push_back(v2_procs.c_str());
    pid = ::fork();
  }
  if (pid < 0) return FailErrno(errno, "failed to fork");
  if (pid == 0) RunChild(plan);
  monitor_ = pid;
  output_ = std::move(output.read);
  status_ = std::move(status.read);
  monitor_fd_.Reset(PidFd(pid));
  if (!monitor_fd_) return FailErrno(errno, "failed to watch the sandbox");
  ::fcntl(status_.get(), F_SETFL, O_NONBLOCK);
  return {};
}

std::vector<int> Program::WaitFds() const {
  if (!monitor_status_ && monitor_fd_) return {monitor_fd_.get()};
  if (!init_gone_ && init_fd_) return {init_fd_.get()};
  return {};
}

void Program::ReadStatus() {
  std::array<char, 1024> buffer{};
  ssize_t n = 0;
  while ((n = ::read(status_.get(), buffer.data(), buffer.size())) > 0) {
    status_text_.append(buffer.data(), static_cast<std::size_t>(n));
  }
  for (auto end = status_text_.find('\n'); end != status_text_.npos;
       end = status_text_.find('\n')) {
    if (auto document = ParseJsonObject(std::string_view(status_text_).substr(0, end))) {
      if (const auto pid = FindInt(*document, "child-pid")) {
        init_ = static_cast<pid_t>(*pid);
        init_fd_.Reset(PidFd(init_));
        if (!init_fd_) init_gone_ = true;
      }
      if (const auto code = FindInt(*document, "exit-code")) exit_code_ = static_cast<int>(*code);
    }
    status_text_.erase(0, end + 1);
  }
}

std::vector<pid_t> Program::Processes() const {
  std::vector<pid_t> out;
  const ino_t ours = PidNamespace(std::to_string(init_));
  if (ours == 0) return out;
  std::error_code ec;
  for (std::filesystem::directory_iterator it("/proc", ec), end; !ec && it != end;
       it.increment(ec)) {
    const std::string name = it->path().filename().native();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    if (pid != init_ && PidNamespace(name) == ours) out.push_back(pid);
  }
  return out;
}

Status Program::Signal(int signal, bool all_processes) {
  if (!started()) return Fail(ErrorCode::kNotFound, "the program was not started");
  if (init_ < 0 && Readable(status_.get(), kStatusWaitMs)) ReadStatus();
  if (init_ < 0) return Fail(ErrorCode::kUnavailable, "the sandbox is not ready");
  bool delivered = false;
  for (const pid_t pid : all_processes ? Processes() : ChildrenOf(init_)) {
    // Orphans become children of PID 1 too; only the program itself is PID 2.
    if (!all_processes && InnermostPid(pid) != kSandboxProgram) continue;
    delivered = ::kill(pid, signal) == 0 || delivered;
  }
  if (!delivered) return Fail(ErrorCode::kUnavailable, "the program is not there (yet)");
  return {};
}

void Program::Kill() {
  if (!started() || monitor_status_) return;
  // The parent-death signals bring down the rest, PID 1 of the sandbox first.
  ::kill(monitor_, SIGKILL);
}

std::optional<ProgramEnd> Program::Reap() {
  if (!started()) return std::nullopt;
  if (!monitor_status_) {
    int status = 0;
    if (::waitpid(monitor_, &status, WNOHANG) != monitor_) return std::nullopt;
    monitor_status_ = status;
  }
  ReadStatus();
  if (init_ < 0) init_gone_ = true;
  if (!init_gone_ && !Readable(init_fd_.get(), 0)) return std::nullopt;
  init_gone_ = true;
  if (init_ > 0) ::waitpid(init_, nullptr, WNOHANG);

  ProgramEnd end;
  const int status = *monitor_status_;
  if (exit_code_) {
    end.exit_code = *exit_code_;
  } else if (WIFSIGNALED(status)) {
    end.exit_code = 128 + WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
    end.sandbox_failed = true;
  }
  // bwrap passes a signal on as 128 + its number.
  if (end.exit_code > 128 && end.exit_code < 128 + NSIG) end.signal = end.exit_code - 128;
  return end;
}

}  // namespace sabia::agent
