#include "fleet/posix/agent_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <string>

#include "env/posix/posix_files.h"

namespace sabia::fleet {

bool SendToAgent(const env::Path& directory, std::string_view text) {
  // Without a reader (ENXIO) or with a full pipe nobody takes it.
  const auto pipe = env::OpenFile(directory / "agent.poke", O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  if (!pipe) return false;
  std::string message(1, '\0');
  if (!text.empty()) message = std::string(text) + '\n';
  if (message.size() > PIPE_BUF) return false;  // longer ones may be torn
  return ::write(pipe->get(), message.data(), message.size()) ==
         static_cast<ssize_t>(message.size());
}

}  // namespace sabia::fleet
