// Agents as processes of this machine, each in a session of its own.
//
// An agent is not killed with the daemon: init inherits it and the program goes on. While the
// daemon lives, a thread waits for the agents (pidfd) and tells the listener at once when one ends.
// An agent gets no descriptor of the daemon's, a small environment, and <directory>/agent.err as
// its standard error. It is forked from a server that is loaded once (fork_server.h), or, when that
// does not work, started as a program of its own. One that has served an instance and is fit for
// more waits a moment for the next: it is given an instance only after it has said that it is done
// with the one before, and from then on it counts as that one's. One of a warm pool waits longer,
// in the directory of its instance, and is called by name (agent_pipe.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "env/posix/posix_files.h"
#include "fleet/launcher.h"
#include "fleet/posix/fork_server.h"

namespace sabia::fleet {

struct LocalLauncherOptions {
  // The agent's directory is appended as the last argument. The first is the program's path.
  std::vector<std::string> command = {"/proc/self/exe", "agent", "--directory"};
  // Starts the fork server; empty: every agent is started by `command`.
  std::vector<std::string> server_command = {};
  // "NAME=value", the whole environment. Secrets do not belong here: agents read them from their
  // directory.
  std::vector<std::string> environment = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
};

class LocalLauncher final : public Launcher {
 public:
  static Result<std::unique_ptr<LocalLauncher>> Create(LocalLauncherOptions options);
  ~LocalLauncher() override;  // leaves the agents running

  Status Start(const AgentName& agent) override;
  bool Runs(const std::string& id) override;
  Status Kill(const AgentName& agent, int pid) override;
  void OnExit(std::function<void(const std::string&)> listener) override;

 private:
  explicit LocalLauncher(LocalLauncherOptions options)
      : options_(std::move(options)), server_(options_.server_command, options_.environment) {}
  void WaitForChildren();
  void Reap(int pidfd);
  void TakeFree(int line);
  void DismissFree(std::size_t but);

  struct Child {
    std::string id;  // "" while it is free
    int pid = 0;
    bool ours = false;  // our own child: to be reaped here
    env::UniqueFd pidfd;
    env::UniqueFd line;  // to one that can serve again
  };
  Result<Child> Begin(const AgentName& agent);
  Result<Child> SpawnOne(const AgentName& agent);
  bool GiveToFree(const AgentName& agent);
  bool Listen(int fd);
  // Calls the waiting agent to the directory. False: a new one is needed.
  bool Call(const AgentName& agent);
  bool Watches(const WaitingAgent& waiting);
  Status Watch(Child child);

  const LocalLauncherOptions options_;
  ForkServer server_;
  env::UniqueFd epoll_;
  env::UniqueFd stop_;
  std::mutex mutex_;
  std::map<int, Child> by_pidfd_;     // guarded by mutex_
  std::map<int, int> by_line_;        // line → pidfd; guarded by mutex_
  std::map<std::string, int> by_id_;  // id → pidfd; guarded by mutex_. -1 while it is being started
  std::vector<int> free_;             // pidfds, the longest free first; guarded by mutex_
  std::function<void(const std::string&)> listener_;
  std::thread thread_;
};

}  // namespace sabia::fleet
