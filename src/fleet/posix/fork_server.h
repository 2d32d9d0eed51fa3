// Starts agents by forking a process that has been loaded once, instead of loading the program
// again for each.
//
// Loading costs about ten milliseconds (50 shared libraries, 15,000 relocations); a fork of the
// loaded, idle process half of one. The server is a child of the daemon and talks over a socket: a
// message is the directory of an instance, the answer is a pid with its pidfd. It ends with the
// daemon; agents are sessions of their own and run on. Agents are its children, so it reaps them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "env/posix/posix_files.h"

namespace sabia::fleet {

// The server's side, called by main of the started program: answers on the socket until it is
// closed, and returns the exit status. In each child, `run` is called with the directory, with
// standard error going to <directory>/agent.err, and its result is the child's exit status.
// `ended_child` is called in the server for each child that has ended. REQUIRES: the process has
// one thread.
int ServeForks(int socket, const std::function<int(const env::Path& directory)>& run,
               const std::function<void(int pid)>& ended_child = {});

// Where a server finds its socket.
inline constexpr int kForkServerSocket = 3;

struct ForkedAgent {
  int pid = 0;
  env::UniqueFd pidfd;
};

// The daemon's side. Threading: thread-safe; one fork at a time.
class ForkServer {
 public:
  ForkServer(std::vector<std::string> command, std::vector<std::string> environment)
      : command_(std::move(command)), environment_(std::move(environment)) {}
  ~ForkServer();  // the server ends, agents run on

  // Starts the server when there is none; once more when it has died. kUnavailable: it does not
  // work.
  Result<ForkedAgent> Fork(const env::Path& directory);

 private:
  Status Connect();
  void Disconnect();
  Result<ForkedAgent> Ask(const env::Path& directory);

  const std::vector<std::string> command_;
  const std::vector<std::string> environment_;
  std::mutex mutex_;
  env::UniqueFd socket_;  // guarded by mutex_
  int pid_ = 0;           // guarded by mutex_
};

}  // namespace sabia::fleet
