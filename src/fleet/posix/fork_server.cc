#include "fleet/posix/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <optional>

#include "fleet/posix/pidfd.h"
#include "fleet/posix/spawn.h"

namespace sabia::fleet {
namespace {

struct Answer {
  int pid = 0;
  int error = 0;  // errno when pid is 0
};

constexpr int kDescriptors = 2;  // of an agent: its pidfd and its line
constexpr char kFree = 'f';
// Where an agent has its line; above it lies nothing at first.
constexpr int kLine = kForkServerSocket;

// The descriptors ride on the message; an answer without a pid has none.
bool SendAnswer(int socket, Answer answer, const std::array<int, kDescriptors>& fds = {}) {
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (answer.pid > 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof answer;
}

Result<ForkedAgent> ReceiveAnswer(int socket) {
  Answer answer;
  std::array<int, kDescriptors> fds = {-1, -1};
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof answer) return Fail(ErrorCode::kUnavailable, "the fork server has gone");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof fds)) {
    std::memcpy(fds.data(), CMSG_DATA(header), sizeof fds);
  }
  ForkedAgent agent{answer.pid, env::UniqueFd(fds[0]), env::UniqueFd(fds[1])};
  if (agent.pid == 0 || !agent.pidfd || !agent.line)
    return FailErrno(answer.error, "failed to fork an agent");
  return agent;
}

// The next directory; "" when nobody will say one.
env::Path ReceiveDirectory(int socket) {
  std::array<char, PATH_MAX> directory{};
  ssize_t n = 0;
  do {
    n = ::recv(socket, directory.data(), directory.size(), 0);
  } while (n < 0 && errno == EINTR);
  return n <= 0 ? std::string() : std::string(directory.data(), static_cast<std::size_t>(n));
}

Served ServeOne(const env::Path& directory, const std::function<Served(const env::Path&)>& run) {
  const int error_file =
      ::open((directory / "agent.err").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (error_file >= 0) {
    ::dup2(error_file, STDERR_FILENO);
    ::close(error_file);
  }
  const Served served = run(directory);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // a signal that it left pending ends us now
  return served;
}

// The rest of a child's life.
[[noreturn]] void BecomeAgent(int line, env::Path directory,
                              const std::function<Served(const env::Path&)>& run) {
  ::dup3(line, kLine, O_CLOEXEC);
  ::close_range(kLine + 1, ~0U, 0);  // the other end of the line among them
  ::setsid();
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  while (true) {
    const Served served = ServeOne(directory, run);
    if (!served.again) ::_exit(served.status);
    if (::send(kLine, &kFree, 1, MSG_NOSIGNAL) != 1) ::_exit(served.status);
    directory = ReceiveDirectory(kLine);
    if (directory.empty()) ::_exit(served.status);
  }
}

void AnswerOne(int socket, const env::Path& directory,
               const std::function<Served(const env::Path&)>& run) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    SendAnswer(socket, {0, errno});
    return;
  }
  const env::UniqueFd daemons(ends[0]);
  const env::UniqueFd agents(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) BecomeAgent(agents.get(), directory, run);
  if (pid < 0) {
    SendAnswer(socket, {0, errno});
    return;
  }
  // It is not reaped before the loop comes round again, so the pid is still its own.
  const env::UniqueFd pidfd(::pidfd_open(pid, 0));
  if (pidfd) {
    SendAnswer(socket, {pid, 0}, {pidfd.get(), daemons.get()});
    return;
  }
  const int error = errno;
  ::kill(pid, SIGKILL);
  SendAnswer(socket, {0, error});
}

}  // namespace

int ServeForks(int socket, const std::function<Served(const env::Path& directory)>& run,
               const std::function<void(int pid)>& ended_child) {
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  const env::UniqueFd ended(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  std::array<pollfd, 2> items = {pollfd{socket, POLLIN, 0}, pollfd{ended.get(), POLLIN, 0}};
  while (true) {
    if (::poll(items.data(), items.size(), -1) < 0) continue;  // EINTR
    signalfd_siginfo info{};
    while (::read(ended.get(), &info, sizeof info) > 0) {
    }
    for (pid_t pid = 0; (pid = ::waitpid(-1, nullptr, WNOHANG)) > 0;) {
      if (ended_child) ended_child(pid);
    }
    if (items[0].revents == 0) continue;
    const env::Path directory = ReceiveDirectory(socket);
    if (directory.empty()) return 0;  // the daemon has gone
    AnswerOne(socket, directory, run);
  }
}

LineNews Hear(int line) {
  char news = 0;
  const ssize_t n = ::recv(line, &news, 1, MSG_DONTWAIT);
  if (n == 1 && news == kFree) return LineNews::kFree;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? LineNews::kNone : LineNews::kEnded;
}

bool ServeNext(int line, const env::Path& directory) {
  const std::string& path = directory.native();
  return ::send(line, path.data(), path.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(path.size());
}

ForkServer::~ForkServer() { Disconnect(); }

void ForkServer::Disconnect() {
  socket_.Reset();
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

Status ForkServer::Connect() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return FailErrno(errno, "failed to make a socket for the fork server");
  }
  env::UniqueFd ours(ends[0]);
  const env::UniqueFd theirs(ends[1]);
  // Functions of libraries are looked up once, here, and not by each agent when it first calls
  // them.
  std::vector<std::string> environment = environment_;
  environment.emplace_back("LD_BIND_NOW=1");
  ASSIGN_OR_RETURN(pid_, Spawn({command_, environment, "/dev/null", theirs.get()}));
  socket_ = std::move(ours);
  return {};
}

Result<ForkedAgent> ForkServer::Ask(const env::Path& directory) {
  if (!socket_) RETURN_IF_ERROR(Connect());
  const std::string& path = directory.native();
  if (::send(socket_.get(), path.data(), path.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(path.size())) {
    return Fail(ErrorCode::kUnavailable, "the fork server has gone");
  }
  return ReceiveAnswer(socket_.get());
}

Result<ForkedAgent> ForkServer::Fork(const env::Path& directory) {
  const std::lock_guard lock(mutex_);
  auto agent = Ask(directory);
  if (agent || agent.error().code != ErrorCode::kUnavailable) return agent;
  // Whether the old server forked before it died does not matter: a second agent finds the lock
  // taken, and goes.
  Disconnect();
  agent = Ask(directory);
  if (!agent) Disconnect();
  return agent;
}

}  // namespace sabia::fleet
