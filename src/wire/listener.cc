#include "wire/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <string_view>

namespace sabia::wire {
namespace {

constexpr int kBacklog = 1024;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(storage); }
  sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(storage); }
  std::uint16_t port() {
    return ntohs(storage.ss_family == AF_INET6 ? v6().sin6_port : v4().sin_port);
  }
};

Result<SocketAddress> ParseAddress(const ListenOptions& options) {
  SocketAddress address;
  if (::inet_pton(AF_INET, options.address.c_str(), &address.v4().sin_addr) == 1) {
    address.storage.ss_family = AF_INET;
    address.v4().sin_port = htons(options.port);
    address.size = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, options.address.c_str(), &address.v6().sin6_addr) == 1) {
    address.storage.ss_family = AF_INET6;
    address.v6().sin6_port = htons(options.port);
    address.size = sizeof(sockaddr_in6);
  } else {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not an IPv4 or IPv6 address to listen on",
                options.address);
  }
  return address;
}

std::string Describe(SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.storage.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &address.v6().sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, address.port());
  }
  ::inet_ntop(AF_INET, &address.v4().sin_addr, text, sizeof text);
  return fmt::format("{}:{}", text, address.port());
}

}  // namespace

Result<std::unique_ptr<Listener>> Listen(const ListenOptions& options) {
  ASSIGN_OR_RETURN(SocketAddress address, ParseAddress(options));
  auto listener = std::make_unique<Listener>();
  listener->options = options;
  const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  listener->socket.Reset(::socket(address.storage.ss_family, type, 0));
  const int fd = listener->socket.get();
  if (fd < 0) return FailErrno(errno, "failed to make a socket");
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.storage.ss_family == AF_INET6) {
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (::bind(fd, address.get(), address.size) != 0 || ::listen(fd, kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      return Fail(ErrorCode::kAlreadyExists, "port {} of {} is taken by another program",
                  options.port, options.address);
    }
    return FailErrno(errno, "failed to listen on port {} of {}", options.port, options.address);
  }
  if (::getsockname(fd, address.get(), &address.size) != 0) {
    return FailErrno(errno, "failed to read the port of a listener");
  }
  listener->port = address.port();
  return listener;
}

Result<AcceptedSocket> AcceptOne(Listener& listener) {
  for (;;) {
    SocketAddress address;
    AcceptedSocket accepted;
    accepted.socket.Reset(::accept4(listener.socket.get(), address.get(), &address.size,
                                    SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted.socket) {
      const int on = 1;
      ::setsockopt(accepted.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      accepted.peer = Describe(address);
      return accepted;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return accepted;
    const bool of_the_peer = errno == EINTR || errno == ECONNABORTED || errno == EPROTO ||
                             errno == EPERM || errno == ENETDOWN || errno == EHOSTUNREACH;
    if (!of_the_peer) return FailErrno(errno, "accept");
  }
}

void RejectConnection(AcceptedSocket& accepted) {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n"
      "Connection: close\r\n\r\ntoo many connections\n";
  (void)!::send(accepted.socket.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
  ::shutdown(accepted.socket.get(), SHUT_WR);
}

}  // namespace sabia::wire
