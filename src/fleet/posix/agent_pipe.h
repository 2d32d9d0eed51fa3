// Messages to the agent of an instance directory.
#pragma once

#include <string_view>

#include "env/files.h"

namespace sabia::fleet {

// Into the pipe <directory>/agent.poke, which may be missing. An empty text is a poke; another one
// calls an agent that waits to the directory of that name, and arrives whole. Whether somebody was
// there to take it.
bool SendToAgent(const env::Path& directory, std::string_view text);

}  // namespace sabia::fleet
