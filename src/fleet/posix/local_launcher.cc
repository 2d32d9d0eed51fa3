#include "fleet/posix/local_launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "fleet/posix/agent_pipe.h"
#include "fleet/posix/pidfd.h"
#include "fleet/posix/spawn.h"

namespace sabia::fleet {
namespace {

constexpr int kStarting = -1;
// So many agents wait for another instance, until nothing has begun or ended for so long: the next
// job of a queue comes within milliseconds. Each is some megabytes of memory.
constexpr std::size_t kFreeMax = 32;
constexpr int kQuietMs = 2'000;

bool Readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, 0) == 1;
}

// Whether the process is the agent of that directory: it has the lock file open.
bool IsAgentOf(int pid, const env::Path& directory) {
  const env::Path lock = directory / "lock";
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/" + std::to_string(pid) + "/fd", error), end;
       !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(it->path(), gone) == lock) return true;
  }
  return false;
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

Result<LocalLauncher::Child> LocalLauncher::SpawnOne(const AgentName& agent) {
  std::vector<std::string> command = options_.command;
  command.push_back(agent.directory.native());
  ASSIGN_OR_RETURN(const int pid,
                   Spawn({command, options_.environment, agent.directory / "agent.err", -1}));
  Child child{agent.id, pid, true, env::UniqueFd(::pidfd_open(pid, 0)), {}};
  if (child.pidfd) return child;
  const int error = errno;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return FailErrno(error, "failed to watch the agent of '{}'", agent.id);
}

Result<LocalLauncher::Child> LocalLauncher::Begin(const AgentName& agent) {
  if (!options_.server_command.empty()) {
    auto forked = server_.Fork(agent.directory);
    if (forked)
      return Child{agent.id, forked->pid, false, std::move(forked->pidfd), std::move(forked->line)};
    LogWarn("agent of '{}': {}; starting it as a program of its own", agent.id,
            forked.error().message);
  }
  return SpawnOne(agent);
}

bool LocalLauncher::Listen(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

Status LocalLauncher::Watch(Child child) {
  const std::lock_guard lock(mutex_);
  const int pidfd = child.pidfd.get();
  if (!Listen(pidfd)) {
    const int error = errno;
    ::pidfd_send_signal(pidfd, SIGKILL, nullptr, 0);
    if (child.ours) ::waitpid(child.pid, nullptr, 0);
    return FailErrno(error, "failed to watch the agent of '{}'", child.id);
  }
  // Without its line it serves once: closing it says so.
  if (child.line && !Listen(child.line.get())) child.line.Reset();
  if (child.line) by_line_[child.line.get()] = pidfd;
  by_id_[child.id] = pidfd;
  by_pidfd_.emplace(pidfd, std::move(child));
  return {};
}

// The one that was free last: its memory is in the caches.
bool LocalLauncher::GiveToFree(const AgentName& agent) {
  const std::lock_guard lock(mutex_);
  while (!free_.empty()) {
    Child& child = by_pidfd_.at(free_.back());
    free_.pop_back();
    // One that has died is buried when its pidfd says so.
    if (!ServeNext(child.line.get(), agent.directory)) continue;
    child.id = agent.id;
    by_id_[agent.id] = child.pidfd.get();
    return true;
  }
  return false;
}

// One of an earlier daemon is not known here.
bool LocalLauncher::Watches(const WaitingAgent& waiting) {
  {
    const std::lock_guard lock(mutex_);
    if (by_id_.contains(waiting.id)) return true;
  }
  if (waiting.pid <= 0) return false;
  Child child{waiting.id, waiting.pid, false, env::UniqueFd(::pidfd_open(waiting.pid, 0)), {}};
  if (!child.pidfd || !IsAgentOf(waiting.pid, waiting.directory)) return false;
  return Watch(std::move(child)).has_value();
}

bool LocalLauncher::Call(const AgentName& agent) {
  const WaitingAgent& waiting = *agent.waiting;
  if (!Watches(waiting)) return false;
  if (!SendToAgent(waiting.directory, agent.directory.native())) return false;
  const std::lock_guard lock(mutex_);
  const auto known = by_id_.find(waiting.id);
  if (known == by_id_.end()) return false;  // it has ended
  const int pidfd = known->second;
  by_id_.erase(known);
  by_id_[agent.id] = pidfd;
  by_pidfd_.at(pidfd).id = agent.id;
  return true;
}

Status LocalLauncher::Start(const AgentName& agent) {
  {
    const std::lock_guard lock(mutex_);
    if (!by_id_.emplace(agent.id, kStarting).second) return {};
  }
  if (agent.waiting ? Call(agent) : GiveToFree(agent)) return {};
  auto child = Begin(agent);
  const Status started =
      child ? Watch(std::move(*child)) : Status(tl::make_unexpected(child.error()));
  if (!started) {
    const std::lock_guard lock(mutex_);
    by_id_.erase(agent.id);
  }
  return started;
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
    // The event may be an older one, of a descriptor that had this number.
    if (found == by_pidfd_.end() || !Readable(pidfd)) return;
    Child& child = found->second;
    if (child.ours && ::waitpid(child.pid, nullptr, WNOHANG) == 0) return;
    id = child.id;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd, nullptr);
    if (child.line) by_line_.erase(child.line.get());  // closing it ends the listening
    std::erase(free_, pidfd);
    if (!id.empty()) by_id_.erase(id);
    by_pidfd_.erase(found);
    listener = listener_;
  }
  if (listener && !id.empty()) listener(id);
}

void LocalLauncher::TakeFree(int line) {
  std::string id;
  std::function<void(const std::string&)> listener;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_line_.find(line);
    if (found == by_line_.end()) return;
    Child& child = by_pidfd_.at(found->second);
    const LineNews news = Hear(line);
    // What more there is to say its pidfd says.
    if (news == LineNews::kEnded) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line, nullptr);
    if (news != LineNews::kFree || child.id.empty()) return;
    id = std::exchange(child.id, "");
    by_id_.erase(id);
    free_.push_back(child.pidfd.get());
    DismissFree(kFreeMax);
    listener = listener_;
  }
  if (listener) listener(id);
}

// Closing the line tells the agent to end. REQUIRES: mutex_ is held.
void LocalLauncher::DismissFree(std::size_t but) {
  while (free_.size() > but) {
    Child& child = by_pidfd_.at(free_.front());
    by_line_.erase(child.line.get());
    child.line.Reset();
    free_.erase(free_.begin());
  }
}

void LocalLauncher::WaitForChildren() {
  constexpr int kEventsMax = 64;
  std::array<epoll_event, kEventsMax> events{};
  while (true) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsMax, kQuietMs);
    if (count == 0) {
      const std::lock_guard lock(mutex_);
      DismissFree(0);
    }
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == stop_.get()) return;
      TakeFree(fd);
      Reap(fd);
    }
  }
}

}  // namespace sabia::fleet
