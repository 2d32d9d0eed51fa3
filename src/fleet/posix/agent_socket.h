// Datagrams to the agent of an instance directory.
#pragma once

#include <string_view>

#include "env/files.h"

namespace sabia::fleet {

// To <directory>/agent.sock, which may be missing; works for paths longer than a socket address. An
// empty text is a poke. Whether somebody was there to take it.
bool SendToAgent(const env::Path& directory, std::string_view text);

}  // namespace sabia::fleet
