// How a sandbox is started, whoever makes it: native_sandbox.h or bwrap_sandbox.h.
#pragma once

#include <vector>

#include "env/files.h"

namespace sabia::agent {

struct SandboxStart {
  int null_fd = -1;                 // becomes standard input
  int output_fd = -1;               // becomes standard output and error
  int status_fd = -1;               // lines about the sandbox go here; see who writes them
  std::vector<env::Path> v1_tasks;  // Cgroup::v1_tasks
  env::Path v2_group;               // Cgroup::v2_group
};

}  // namespace sabia::agent
