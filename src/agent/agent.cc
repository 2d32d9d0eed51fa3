#include "agent/agent.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>

#include "agent/contract_files.h"
#include "agent/supervisor.h"
#include "agent/waiting_room.h"
#include "base/log.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

// The small files of the instance that lie in the shared system's memory.
Status WriteShared(const SharedSystem& shared, const model::InstanceSpec& spec) {
  RETURN_IF_ERROR(shared.MakeOwn());
  const Path config = SharedConfig(shared);
  env::PosixFiles files;
  RETURN_IF_ERROR(files.MakeDirectories(config));
  RETURN_IF_ERROR(WriteContractFiles(spec, config));
  return WriteHosts(spec, SharedHosts(shared));
}

bool HasOneThread() {
  struct stat tasks {};
  return ::stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;  // itself, "..", the thread
}

// What an agent keeps: standard input and so on, its line, a connection or two.
bool HasFewDescriptors() {
  constexpr off_t kMost = 12;
  struct stat open {};
  if (::stat("/proc/self/fd", &open) != 0) return false;
  if (open.st_size > 0) return open.st_size <= kMost;
  // Before Linux 6.2 the size does not tell.
  return env::PosixFiles().List("/proc/self/fd").value_or(std::vector<std::string>(kMost)).size() <
         static_cast<std::size_t>(kMost);
}

bool HasNoChild() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

// What of the process is made once, however many instances it serves.
class Process {
 public:
  Process(const AgentOptions& options, const AgentParts& parts)
      : options_(options), parts_(parts) {}

  // The link when the agent stays.
  std::optional<Link> Serve(Link link) {
    AgentOptions own = options_;
    own.directory = link.layout().directory();
    const SharedSystem* shared = own.paths.shared;
    if (shared != nullptr && (!shared->Fits(link.spec()) || !WriteShared(*shared, link.spec())))
      own.paths.shared = nullptr;
    // Of the engine's mounts only those of channels and of a system of its own are the job's.
    if (own.paths.shared == nullptr || !link.spec().channels.empty()) EnterMounts();
    Supervisor supervisor(own, parts_, std::move(link), no_mounts_);
    if (!supervisor.Run()) return std::nullopt;
    return std::move(supervisor).TakeLink();
  }

  bool as_before() const {
    return !entered_ && HasOneThread() && HasNoChild() && HasFewDescriptors();
  }

 private:
  // First of all, because a user namespace can only be made while there is one thread.
  void EnterMounts() {
    if (entered_) return;
    entered_ = true;
    if (const Status entered = channels::EnterMountNamespace(); !entered)
      no_mounts_ = entered.error().message;
  }

  const AgentOptions& options_;
  const AgentParts& parts_;
  bool entered_ = false;
  std::string no_mounts_;
};

}  // namespace

AgentEnd RunAgent(const AgentOptions& options, const AgentParts& parts) {
  Process process(options, parts);
  auto link = Link::Open(Layout(options.directory));
  while (link) {
    std::optional<Link> done = process.Serve(std::move(*link));
    if (!done) return {.as_before = process.as_before()};
    const auto next = AwaitCall(*done, parts.clock);
    if (!next) return {};
    link = Link::Open(Layout(*next));
    if (link) MoveIn(done->layout(), link->layout());
    // Here the lock of the old directory is given up: from now on it is nobody's.
  }
  LogError("agent: {}", link.error().message);
  return {.status = 1};
}

}  // namespace sabia::agent
