#include "agent/agent.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>

#include "agent/contract_files.h"
#include "agent/supervisor.h"
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

}  // namespace

AgentEnd RunAgent(const AgentOptions& options, const AgentParts& parts) {
  auto link = Link::Open(Layout(options.directory));
  if (!link) {
    LogError("agent: {}", link.error().message);
    return {.status = 1};
  }
  AgentOptions own = options;
  const SharedSystem* shared = own.paths.shared;
  if (shared != nullptr && (!shared->Fits(link->spec()) || !WriteShared(*shared, link->spec())))
    own.paths.shared = nullptr;
  // Of the engine's mounts only those of channels and of a system of its own are the job's. First,
  // because a user namespace can only be made while there is one thread.
  const bool mounts = own.paths.shared == nullptr || !link->spec().channels.empty();
  const Status entered = mounts ? channels::EnterMountNamespace() : Status();
  Supervisor(own, parts, std::move(*link), entered ? std::string() : entered.error().message).Run();
  return {.as_before = !mounts && HasOneThread() && HasNoChild() && HasFewDescriptors()};
}

}  // namespace sabia::agent
