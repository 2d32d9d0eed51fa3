#include "agent/waiting_room.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

constexpr int kTickMs = 1'000;

// Blocked since the first instance.
env::UniqueFd EndSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return env::UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Credentials and data of a job that is over. Not at once: the next one may be waiting.
void Tidy(const Layout& layout) {
  env::PosixFiles files;
  (void)files.RemoveTree(layout.root());
  (void)files.RemoveTree(layout.scratch());
  ::unlink(layout.spec().c_str());
}

void ReapStrangers() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::optional<Path> AwaitCall(Link& link, env::Clock& clock) {
  const env::UniqueFd signals = EndSignals();
  const MonoTime end = clock.Mono() + kWaitMax;
  bool tidy = false;
  while (clock.Mono() < end) {
    std::array<pollfd, 2> items = {pollfd{link.pokes(), POLLIN, 0},
                                   pollfd{signals.get(), POLLIN, 0}};
    const int news = ::poll(items.data(), items.size(), kTickMs);
    ReapStrangers();
    if (items[1].revents != 0) return std::nullopt;
    if (items[0].revents != 0) {
      if (auto next = link.TakeCall()) return next;
    }
    if (link.Deserted()) return std::nullopt;
    if (news == 0 && !tidy) {
      Tidy(link.layout());
      tidy = true;
    }
  }
  return std::nullopt;
}

void MoveIn(const Layout& from, const Layout& to) {
  (void)std::rename(from.cache().c_str(), to.cache().c_str());
  (void)std::rename(from.packages().c_str(), to.packages().c_str());
  const auto error_file =
      env::OpenFile(to.errors(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (error_file) ::dup2(error_file->get(), STDERR_FILENO);
}

}  // namespace sabia::agent
