// Listening sockets: opening one and taking connections from it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "wire/http_server.h"

namespace sabia::wire {

struct Listener {
  ListenOptions options;
  env::UniqueFd socket;  // non-blocking
  std::uint16_t port = 0;
  std::atomic<bool> resting{false};  // accepting failed for lack of resources
};

// kAlreadyExists: the port is taken; kInvalidArgument: not an IP address.
Result<std::unique_ptr<Listener>> Listen(const ListenOptions& options);

struct AcceptedSocket {
  env::UniqueFd socket;  // non-blocking, without Nagle's delay; empty: no connection waits
  std::string peer;      // "127.0.0.1:40312", "[::1]:40312"
};
Result<AcceptedSocket> AcceptOne(Listener& listener);

// Says 503 in plain HTTP, without waiting, and lets the connection go.
void RejectConnection(AcceptedSocket& accepted);

}  // namespace sabia::wire
