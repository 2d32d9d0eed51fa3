#include "fleet/posix/agent_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdio>

#include "env/posix/posix_files.h"

namespace sabia::fleet {

bool SendToAgent(const env::Path& directory, std::string_view text) {
  const auto parent = env::OpenFile(directory, O_PATH | O_DIRECTORY);
  const env::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!parent || !socket) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/agent.sock",
                parent->get());
  return ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

}  // namespace sabia::fleet
