#include "agent/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "agent/bwrap_sandbox.h"
#include "agent/native_sandbox.h"
#include "base/json.h"
#include "base/log.h"

namespace sabia::agent {
namespace {

constexpr int kSandboxProgram = 2;
constexpr std::string_view kReady = "ready ";
constexpr std::string_view kFailed = "failed ";
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
  const SandboxStart start{null.get(), output.write.get(), status.write.get(), options.v1_tasks,
                           options.v2_group};
  output_ = std::move(output.read);
  status_ = std::move(status.read);
  ::fcntl(status_.get(), F_SETFL, O_NONBLOCK);
  const Status native = StartNative(options, start);
  if (native) return {};
  if (::access(options.bwrap.c_str(), X_OK) != 0) {
    return Fail(ErrorCode::kInternal,
                "{}; bubblewrap, which may be able to, is not installed as '{}' "
                "(apt-get install bubblewrap)",
                native.error().message, options.bwrap.native());
  }
  LogWarn("agent: {}; bubblewrap makes the sandbox", native.error().message);
  ASSIGN_OR_RETURN(monitor_, StartBwrap({options.bwrap, options.sandbox, options.command}, start));
  return Watch();
}

Status Program::StartNative(const ProgramOptions& options, const SandboxStart& start) {
  if (options.only_bwrap) return Fail(ErrorCode::kUnimplemented, "bubblewrap was asked for");
  ASSIGN_OR_RETURN(NativeSandbox sandbox, NativeSandbox::Plan(options.sandbox, options.command));
  ASSIGN_OR_RETURN(monitor_, sandbox.Start(start));
  init_ = monitor_;
  init_gone_ = true;  // when the monitor is
  RETURN_IF_ERROR(Watch());
  std::array<pollfd, 2> news = {pollfd{status_.get(), POLLIN, 0},
                                pollfd{monitor_fd_.get(), POLLIN, 0}};
  ::poll(news.data(), news.size(), kStatusWaitMs);
  ReadStatus();
  if (!native_failure_) return {};
  ::waitpid(monitor_, nullptr, 0);
  monitor_ = init_ = -1;
  init_gone_ = false;
  return Fail(ErrorCode::kInternal, "the sandbox could not be made: {}", *native_failure_);
}

Status Program::Watch() {
  monitor_fd_.Reset(PidFd(monitor_));
  if (monitor_fd_) return {};
  return FailErrno(errno, "failed to watch the sandbox");
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
    const std::string_view line = std::string_view(status_text_).substr(0, end);
    if (line.starts_with(kReady)) {
      std::from_chars(line.data() + kReady.size(), line.data() + line.size(), namespace_inode_);
    } else if (line.starts_with(kFailed)) {
      native_failure_ = line.substr(kFailed.size());
    } else if (auto document = ParseJsonObject(line)) {
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
  const ino_t ours = namespace_inode_ != 0 ? namespace_inode_ : PidNamespace(std::to_string(init_));
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
    end.failure = native_failure_.value_or("");
  }
  // bwrap passes a signal on as 128 + its number.
  if (end.exit_code > 128 && end.exit_code < 128 + NSIG) end.signal = end.exit_code - 128;
  return end;
}

}  // namespace sabia::agent
