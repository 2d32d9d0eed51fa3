// Starts, stops and reports agents. Agents outlive the daemon that started them.
//
// Threading: thread-safe. Nothing here is remembered over a restart: an agent of an earlier daemon
// is found through the lock of its directory (instance_files.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "env/files.h"

namespace sabia::fleet {

// An agent that has done its work for another instance and waits there (model::Report::stays).
struct WaitingAgent {
  std::string id;
  env::Path directory;
  int pid = 0;
};

struct AgentName {
  std::string id;       // of the instance
  env::Path directory;  // of the instance, prepared
  // Goes on in this directory instead of a new process, when it can still be reached. From then on
  // it is known by the new id.
  std::optional<WaitingAgent> waiting = {};
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns when the process exists; it may end at once, and then Runs() is false. Starting one
  // that this launcher already runs is success.
  virtual Status Start(const AgentName& agent) = 0;
  // Whether an agent that this launcher started still runs.
  virtual bool Runs(const std::string& id) = 0;
  // SIGKILL. pid is what the agent's report says, for agents of an earlier daemon; 0 when unknown.
  // One that is gone already, or a pid that is no agent of that directory, is success.
  virtual Status Kill(const AgentName& agent, int pid) = 0;
  // Called with the instance's id when an agent of this launcher has ended, on a thread of the
  // launcher. Must be cheap. Set before the first Start.
  virtual void OnExit(std::function<void(const std::string&)> listener) = 0;
};

}  // namespace sabia::fleet
