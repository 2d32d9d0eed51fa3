// What the child does that makes a native sandbox around itself, as data made before it is born: in
// its parent's memory, which waits meanwhile, it may only make system calls (native_sandbox.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sabia::agent {

struct InitStep {
  enum class Kind { kBind, kSymlink, kProc, kDev };
  Kind kind;
  const char* source;  // of a bind: a path outside; of a symlink: what it says
  const char* target;  // a path inside
  bool read_only = false;
  int tree = -1;  // the source, while it is carried in
};

struct InitPlan {
  std::vector<std::string> options;  // what the pointers below point into
  std::vector<std::string> command;
  std::vector<std::string> texts;
  std::vector<std::string> init_words;

  std::vector<InitStep> steps;
  const char* hostname = nullptr;
  const char* directory = "/";
  bool new_network = false;
  std::uint64_t capabilities = 0;  // that the program keeps
  std::vector<char*> init_argv;    // of PID 1 (init/main.cc); ends with null
  std::vector<char*> environment;  // of PID 1 and the program; ends with null

  std::vector<int> joins;  // control group files to write oneself into
  const char* uid_map = nullptr;
  const char* gid_map = nullptr;
  int null_fd = -1;
  int output_fd = -1;
  int status_fd = -1;
  int parent_fd = -1;  // pidfd of the agent
  int init_fd = -1;    // the program that becomes PID 1
};

// The rest of the child's life, up to PID 1's own program. REQUIRES: a new process with one thread,
// in new user, mount, pid, ipc and uts namespaces, and a new network where the plan says so.
[[noreturn]] void RunInit(InitPlan& plan);

}  // namespace sabia::agent
