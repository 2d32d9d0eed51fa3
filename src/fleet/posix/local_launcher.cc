#include "fleet/posix/local_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 declares its functions without C linkage
}

#include "base/log.h"

namespace sabia::fleet {
namespace {

constexpr int kStarting = -1;

// The attributes and file actions of posix_spawn, destroyed together.
class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // 0 or an errno value.
  int Fill(const env::Path& error_file) {
    constexpr int kFirstInherited = 3;
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    int error = ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = ::posix_spawnattr_setsigmask(&attributes_, &none);
    if (error == 0) error = ::posix_spawnattr_setsigdefault(&attributes_, &all);
    if (error == 0)
      error = ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
      error = ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    if (error == 0) {
      error = ::posix_spawn_file_actions_addopen(&actions_, 2, error_file.c_str(),
                                                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    }
    if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstInherited);
    return error;
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Whether the process is an agent of that directory: its last argument names it.
bool IsAgentOf(int pid, const env::Path& directory) {
  const auto fd = env::OpenFile("/proc/" + std::to_string(pid) + "/cmdline", O_RDONLY);
  if (!fd) return false;
  std::array<char, 8192> buffer{};
  const ssize_t n = ::read(fd->get(), buffer.data(), buffer.size());
  if (n <= 0) return false;
  const std::string_view line(buffer.data(), static_cast<std::size_t>(n));
  return line.ends_with(std::string(1, '\0') + directory.native() + std::string(1, '\0'));
}

}  // namespace

Result<std::unique_ptr<LocalLauncher>> LocalLauncher::Create(LocalLauncherOptions options) {
  std::unique_ptr<LocalLauncher> launcher(new LocalLauncher(std::move(options)));
  launcher->epoll_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  launcher->stop_.Reset(::eventfd(0, EFD_CLOEXEC));
  if (!launcher->epoll_ || !launcher->stop_)
    return FailErrno(errno, "failed to watch child processes");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = launcher->stop_.get();
  if (::epoll_ctl(launcher->epoll_.get(), EPOLL_CTL_ADD, event.data.fd, &event) != 0) {
    return FailErrno(errno, "failed to watch child processes");
  }
  launcher->thread_ = std::thread([self = launcher.get()] { self->WaitForChildren(); });
  return launcher;
}

LocalLauncher::~LocalLauncher() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void LocalLauncher::OnExit(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

Result<int> LocalLauncher::Spawn(const AgentName& agent) {
  SpawnSetup setup;
  if (const int error = setup.Fill(agent.directory / "agent.err"); error != 0) {
    return FailErrno(error, "failed to prepare the agent of '{}'", agent.id);
  }
  std::vector<std::string> arguments = options_.command;
  arguments.push_back(agent.directory.native());
  std::vector<std::string> environment = options_.environment;
  int pid = 0;
  const int error =
      ::posix_spawn(&pid, options_.command.front().c_str(), setup.actions(), setup.attributes(),
                    Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) return FailErrno(error, "failed to start the agent of '{}'", agent.id);
  return pid;
}

Status LocalLauncher::Start(const AgentName& agent) {
  {
    const std::lock_guard lock(mutex_);
    if (!by_id_.emplace(agent.id, kStarting).second) return {};
  }
  const auto pid = Spawn(agent);
  const std::lock_guard lock(mutex_);
  if (!pid) {
    by_id_.erase(agent.id);
    return tl::make_unexpected(pid.error());
  }
  Child child{agent.id, *pid, env::UniqueFd(::pidfd_open(*pid, 0))};
  const int pidfd = child.pidfd.get();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = pidfd;
  if (pidfd < 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd, &event) != 0) {
    const int error = errno;
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    by_id_.erase(agent.id);
    return FailErrno(error, "failed to watch the agent of '{}'", agent.id);
  }
  by_id_[agent.id] = pidfd;
  by_pidfd_.emplace(pidfd, std::move(child));
  return {};
}

bool LocalLauncher::Runs(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return by_id_.contains(id);
}

Status LocalLauncher::Kill(const AgentName& agent, int pid) {
  {
    const std::lock_guard lock(mutex_);
    const auto own = by_id_.find(agent.id);
    if (own != by_id_.end() && own->second != kStarting) {
      ::pidfd_send_signal(own->second, SIGKILL, nullptr, 0);
      return {};
    }
  }
  if (pid <= 0) return {};
  // The descriptor pins the process, so it cannot be another one by the time of the signal.
  const env::UniqueFd pidfd(::pidfd_open(pid, 0));
  if (pidfd && IsAgentOf(pid, agent.directory))
    ::pidfd_send_signal(pidfd.get(), SIGKILL, nullptr, 0);
  return {};
}

void LocalLauncher::Reap(int pidfd) {
  std::string id;
  std::function<void(const std::string&)> listener;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_pidfd_.find(pidfd);
    if (found == by_pidfd_.end()) return;
    int status = 0;
    if (::waitpid(found->second.pid, &status, WNOHANG) == 0) return;
    id = found->second.id;
    if (status != 0) LogDebug("the agent of '{}' ended with wait status {}", id, status);
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd, nullptr);
    by_id_.erase(id);
    by_pidfd_.erase(found);
    listener = listener_;
  }
  if (listener) listener(id);
}

void LocalLauncher::WaitForChildren() {
  constexpr int kEventsMax = 64;
  std::array<epoll_event, kEventsMax> events{};
  while (true) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsMax, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == stop_.get()) return;
      Reap(fd);
    }
  }
}

}  // namespace sabia::fleet
