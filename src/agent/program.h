// A program inside its sandbox: started, signalled, waited for, and gone to the last process.
//
// The tree is: agent → PID 1 of the sandbox → the program (PID 2) → whatever it forks. The program
// is never PID 1, so that signals have their default effect on it. When the agent's main thread
// dies, the kernel kills PID 1, and the namespace with it. The agent makes the sandbox itself
// (native_sandbox.h); where that is refused, bubblewrap does, with one process more between.
//
// Threading: Start, Signal and Reap on the thread that lives as long as the agent (parent-death
// signals are bound to a thread). Errors: kInternal and kIo when the sandbox could not be made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/sandbox_start.h"
#include "base/result.h"
#include "env/files.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {

struct ProgramOptions {
  env::Path bwrap;
  std::vector<std::string> sandbox;  // in the language of bubblewrap's options
  std::vector<std::string> command;
  std::vector<env::Path> v1_tasks;  // Cgroup::v1_tasks
  env::Path v2_group;               // Cgroup::v2_group
  bool only_bwrap = false;          // for tests
};

struct ProgramEnd {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::optional<int> signal;
  bool sandbox_failed = false;  // the program itself never ran; the log or `failure` says why
  std::string failure;
};

class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // kills what still runs and waits for it

  // The read end of stdout and stderr is output() afterwards.
  Status Start(const ProgramOptions& options);
  bool started() const { return monitor_ > 0; }
  env::UniqueFd TakeOutput() { return std::move(output_); }

  // To the program (PID 2), or to every process of the sandbox. kUnavailable: nobody was there to
  // take it; ask again until Reap says that the program has ended, for the sandbox may still be in
  // the making.
  Status Signal(int signal, bool all_processes);
  // SIGKILL to the whole sandbox.
  void Kill();

  // Descriptors of which one becomes readable when Reap may have news.
  std::vector<int> WaitFds() const;

  // Collects ended children; the end of the program once it and all its processes are gone.
  std::optional<ProgramEnd> Reap();

 private:
  Status StartNative(const ProgramOptions& options, const SandboxStart& start);
  Status Watch();
  void ReadStatus();
  std::vector<pid_t> Processes() const;

  pid_t monitor_ = -1;  // our child: PID 1, or bubblewrap outside
  pid_t init_ = -1;     // PID 1 of the sandbox, in our numbering; -1 until bubblewrap told us
  ino_t namespace_inode_ = 0;  // of its pid namespace, when it is known without looking
  std::optional<std::string> native_failure_;
  std::optional<int> monitor_status_;
  bool init_gone_ = false;
  std::optional<int> exit_code_;
  std::string status_text_;
  env::UniqueFd output_;
  env::UniqueFd status_;
  env::UniqueFd monitor_fd_;  // pidfd
  env::UniqueFd init_fd_;     // pidfd
};

}  // namespace sabia::agent
