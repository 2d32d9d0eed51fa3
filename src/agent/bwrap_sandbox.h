// A sandbox that bubblewrap makes: for kernels and machines that refuse the agent its own
// (native_sandbox.h).
//
// Options travel through a descriptor, for they hold secrets. Threading: on the thread that lives
// as long as the agent; the kernel kills bubblewrap, and with it the sandbox, when that thread
// ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/sandbox_start.h"
#include "base/result.h"

namespace sabia::agent {

struct BwrapOptions {
  env::Path bwrap;
  std::vector<std::string> sandbox;
  std::vector<std::string> command;
};

// The pid of bubblewrap outside. It writes JSON lines to the status descriptor: {"child-pid": N} is
// PID 1 of the sandbox, {"exit-code": N} the end of the program.
Result<pid_t> StartBwrap(const BwrapOptions& options, const SandboxStart& start);

}  // namespace sabia::agent
