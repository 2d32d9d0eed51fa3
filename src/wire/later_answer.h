// The answer of a request whose handler has returned: keeps what it needs of the exchange, and the
// connection itself, until it is sent.
//
// Sending never waits for the client: what the socket has no room for stays with the connection,
// and the worker that the poller gives it to sends the rest. Threading: see LaterAnswer.
#pragma once

#include <memory>
#include <string>

#include "wire/http_connection.h"

namespace sabia::wire {

struct TakenConnection {
  ConnectionOwner& owner;
  Connection* connection = nullptr;
  bool head_only = false;  // the request was a HEAD
  bool keep_alive = true;
  bool http_1_0 = false;
  std::string date;
};

std::unique_ptr<LaterAnswer> TakeConnection(TakenConnection taken);

}  // namespace sabia::wire
