// An HTTP/1.1 server: blocking handlers on a pool of threads that share one poller.
//
// Every worker waits in epoll itself, takes one readable connection, serves it and goes back: no
// hand-over between threads, and an idle connection costs neither thread nor buffer. As many
// workers as there are processors do so at a time; when one of them blocks, another takes its turn
// (runner_slots.h). The pool grows while requests wait for a worker, up to threads_max, and shrinks
// after a quiet time. Slow and
// endless clients are cut (HttpLimits).
//
// Threading: Start, Stop and the readers may be called from any thread; the handler runs on many at
// once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "wire/http.h"
#include "wire/http_connection.h"

namespace sabia::wire {

// Makes transports for a listener that does not speak plain HTTP (tls.h).
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  virtual std::unique_ptr<Transport> Accept(env::UniqueFd socket) = 0;
};

struct ListenOptions {
  std::string address = "127.0.0.1";             // an IPv4 or IPv6 address
  std::uint16_t port = 0;                        // 0: the kernel chooses
  std::shared_ptr<TransportFactory> transports;  // nullptr: plain
};

struct HttpServerOptions {
  std::vector<ListenOptions> listeners;
  std::size_t threads = std::max(8U, std::thread::hardware_concurrency());  // kept at least
  std::size_t threads_max = 256;
  std::size_t connections_max = 8192;  // more are answered 503 and closed
  Millis thread_idle{30'000};          // a worker above `threads` ends after so long without work
  Millis growth_delay{2};              // work waits so long before another worker starts
  Millis tick{250};                    // how often deadlines are looked at
  HttpLimits limits;
};

struct HttpServerStats {
  std::uint64_t requests = 0;
  std::uint64_t refused_heads = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t accepted = 0;
  std::uint64_t rejected_connections = 0;
  std::size_t connections = 0;
  std::size_t threads = 0;
  std::size_t idle_threads = 0;
};

class HttpServer {
 public:
  // Listens and serves. handler and clock outlive the server. kDenied, kAlreadyExists or kIo: a
  // port is not to be had.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, Handler& handler,
                                                   env::Clock& clock);
  virtual ~HttpServer() = default;  // stops without grace

  // The port of the listener, in the order of the options.
  virtual std::uint16_t port(std::size_t listener) const = 0;
  virtual HttpServerStats stats() const = 0;
  // Accepts no more, lets running requests finish for so long, then cuts their connections and
  // waits for the handlers.
  virtual void Stop(Millis grace) = 0;
};

}  // namespace sabia::wire
