#include "agent/agent.h"

#include "agent/supervisor.h"
#include "base/log.h"
#include "channels/mounts.h"

namespace sabia::agent {

int RunAgent(const AgentOptions& options, const AgentParts& parts) {
  auto link = Link::Open(Layout(options.directory));
  if (!link) {
    LogError("agent: {}", link.error().message);
    return 1;
  }
  // First, because a user namespace can only be made while there is one thread.
  const Status mounts = channels::EnterMountNamespace();
  Supervisor(options, parts, std::move(*link), mounts ? std::string() : mounts.error().message)
      .Run();
  return 0;
}

}  // namespace sabia::agent
