// Starts agents by forking a process that has been loaded once, instead of loading the program
// again for each.
//
// Loading costs about ten milliseconds (50 shared libraries, 15,000 relocations); a fork of the
// loaded, idle process half of one, and its memory about another. The server is a child of the
// daemon and talks over a socket: a message is the directory of an instance, the answer is a pid
// with its pidfd and a line to the agent. It ends with the daemon; agents are sessions of their own
// and run on. Agents are its children, so it reaps them.
//
// An agent whose process is as it was before says on its line that it is free, and serves the next
// directory that it is told there. It ends when the line is closed: with the daemon, at the latest.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "env/posix/posix_files.h"

namespace sabia::fleet {

// What an agent says when it has served a directory.
struct Served {
  int status = 0;      // exit status, if it ends now
  bool again = false;  // its process is fit for another directory
};

// The server's side, called by main of the started program: answers on the socket until it is
// closed, and returns the exit status. In each child, `run` is called with the directory, with
// standard error going to <directory>/agent.err and descriptors 0 to 3 open. `ended_child` is
// called in the server for each child that has ended. REQUIRES: the process has one thread.
int ServeForks(int socket, const std::function<Served(const env::Path& directory)>& run,
               const std::function<void(int pid)>& ended_child = {});

// Where a server finds its socket.
inline constexpr int kForkServerSocket = 3;

struct ForkedAgent {
  int pid = 0;
  env::UniqueFd pidfd;
  env::UniqueFd line;  // a packet socket. Readable: the agent is free, or has ended
};

enum class LineNews { kNone, kFree, kEnded };
// Takes the news off the line, if there are any.
LineNews Hear(int line);
// To a free agent: its next directory. False: it has ended.
bool ServeNext(int line, const env::Path& directory);

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
