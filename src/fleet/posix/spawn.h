// posix_spawn with the setup that every process of ours gets: a session of its own, no signal
// blocked or ignored, no descriptor of the daemon's but the named ones.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "env/files.h"

namespace sabia::fleet {

struct SpawnOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  env::Path error_file;  // appended to, mode 0600
  int pass_fd = -1;      // becomes descriptor 3; -1: none
};

// The pid. The child starts with vfork semantics: the size of the caller does not matter.
Result<int> Spawn(const SpawnOptions& options);

}  // namespace sabia::fleet
