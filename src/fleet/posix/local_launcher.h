// Agents as child processes of the daemon, each in a session of its own.
//
// A child is not killed with its parent: when the daemon dies, init inherits the agent and the
// program goes on. While the daemon lives, a thread waits for the children (pidfd), reaps them, and
// tells the listener at once. A child gets no descriptor of the daemon's, a small environment, and
// <directory>/agent.err as its standard error.
//
// Cost: vfork semantics (posix_spawn), so the size of the daemon does not matter.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "env/posix/posix_files.h"
#include "fleet/launcher.h"

namespace sabia::fleet {

struct LocalLauncherOptions {
  // The agent's directory is appended as the last argument. The first is the program's path.
  std::vector<std::string> command = {"/proc/self/exe", "agent", "--directory"};
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
  explicit LocalLauncher(LocalLauncherOptions options) : options_(std::move(options)) {}
  Result<int> Spawn(const AgentName& agent);
  void WaitForChildren();
  void Reap(int pidfd);

  struct Child {
    std::string id;
    int pid = 0;
    env::UniqueFd pidfd;
  };

  const LocalLauncherOptions options_;
  env::UniqueFd epoll_;
  env::UniqueFd stop_;
  std::mutex mutex_;
  std::map<int, Child> by_pidfd_;     // guarded by mutex_
  std::map<std::string, int> by_id_;  // id → pidfd; guarded by mutex_. -1 while it is being started
  std::function<void(const std::string&)> listener_;
  std::thread thread_;
};

}  // namespace sabia::fleet
