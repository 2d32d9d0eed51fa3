#include "control/posix/wake_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace sabia::control {
namespace {

constexpr std::size_t kIdMax = 64;

}  // namespace

Result<std::unique_ptr<WakeSocket>> WakeSocket::Open(const env::Path& path, Listener listener) {
  std::unique_ptr<WakeSocket> wake(new WakeSocket(std::move(listener)));
  wake->socket_.Reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  wake->stop_.Reset(::eventfd(0, EFD_CLOEXEC));
  if (!wake->socket_ || !wake->stop_) return FailErrno(errno, "failed to make a socket");
  // A home may be deeper than the 107 bytes that a socket's name can have; a descriptor's name is
  // short.
  ASSIGN_OR_RETURN(const env::UniqueFd parent,
                   env::OpenFile(path.parent_path(), O_PATH | O_DIRECTORY));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s",
                                   parent.get(), path.filename().c_str());
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof address.sun_path) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is too long a name for a socket",
                path.filename().native());
  }
  ::unlink(path.c_str());
  if (::bind(wake->socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0) {
    return FailErrno(errno, "failed to listen on '{}'", path.native());
  }
  wake->thread_ = std::thread([self = wake.get()] { self->Receive(); });
  return wake;
}

WakeSocket::~WakeSocket() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void WakeSocket::Receive() {
  std::array<pollfd, 2> items = {pollfd{socket_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(items.data(), items.size(), -1) < 0) continue;  // EINTR
    if (items[1].revents != 0) return;
    std::array<char, kIdMax> id{};
    const ssize_t n = ::recv(socket_.get(), id.data(), id.size(), MSG_DONTWAIT);
    if (n > 0) listener_(std::string(id.data(), static_cast<std::size_t>(n)));
  }
}

}  // namespace sabia::control
