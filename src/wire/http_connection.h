// One accepted connection between two requests, and the worker's loop that serves it while bytes
// are there.
//
// A connection holds no buffer and no thread while it is idle: only a head that came in pieces is
// kept. Exactly one worker has a connection at a time; between workers it rests in the poller
// (http_server.cc).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "wire/http_exchange.h"

namespace sabia::wire {

struct HttpLimits {
  HeadLimits head;
  StreamLimits stream;
  Millis header_timeout{15'000};  // from the first byte of a head (or the accept) to its end
  Millis idle_timeout{120'000};   // between two requests of one connection
  Millis linger{2'000};           // after a last answer, for the other side to read it and close
  std::uint64_t body_bytes =
      6ULL << 30;  // above the 5 GiB of a single S3 PUT, with its chunk signatures
  std::uint64_t drain_bytes =
      1 << 20;  // of an unread body, so much is dropped to keep the connection
};

struct Connection {
  std::unique_ptr<Transport> transport;
  std::string peer;
  std::string partial;       // a head that has not ended yet
  std::size_t searched = 0;  // of partial: no end of the head in there
  std::string unsent;        // of an answer that was given later and found no room in the socket
  bool ends = false;         // after what is unsent
  bool handshaken = false;
  bool lingering = false;  // the last answer is sent: what still comes is dropped
  std::uint64_t dropped = 0;
  std::int64_t linger_deadline = 0;
  MonoTime head_deadline{};  // while partial is not empty or before the first request
  // Monotonic nanoseconds after which the connection is cut; 0 while a worker has it.
  std::atomic<std::int64_t> deadline{0};
  std::atomic<bool> expired{false};  // the deadline passed: reads end
  std::size_t slot = 0;              // in the server's registry
};

struct HttpCounters {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> refused_heads{0};
  std::atomic<std::uint64_t> timeouts{0};
};

// Gets connections back that were taken along by an Exchange::Later. Thread-safe.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void LetGo() = 0;
  // Either it rests in the poller again, or it is closed.
  virtual void TakeBack(Connection* connection, bool close) = 0;
};

// Serves connections one after another; one per worker thread. Thread-compatible.
class HttpSession {
 public:
  enum class Next { kRest, kClose, kTaken };

  // owner: nullptr makes every handler answer before it returns.
  struct Parts {
    Handler& handler;
    const HttpLimits& limits;
    env::Clock& clock;
    HttpCounters& counters;
    ConnectionOwner* owner = nullptr;
  };
  explicit HttpSession(const Parts& parts);

  // Reads and answers until no more bytes are there. After kRest, connection.deadline is set; after
  // kTaken the connection is somebody else's already.
  // closing is read after each answer: true ends the connection.
  Next Serve(Connection& connection, const std::atomic<bool>& closing);

 private:
  enum class Turn { kAgain, kRead, kLinger, kClose, kTaken };

  bool Handshake(Connection& connection, Next& next);
  bool SendUnsent(Connection& connection);
  Next Rest(Connection& connection);
  Next EndOfStream(Connection& connection);
  Next Linger(Connection& connection);
  Turn ServeHead(Connection& connection, const std::atomic<bool>& closing);
  Turn Answer(Connection& connection, bool closing);
  Turn Refuse(Connection& connection, const HeadError& error);

  Handler& handler_;
  const HttpLimits& limits_;
  env::Clock& clock_;
  HttpCounters& counters_;
  ConnectionOwner* owner_;
  HttpParser parser_;
  ExchangeScratch scratch_;
  std::vector<char> storage_;
  ReadBuffer buffer_;
};

}  // namespace sabia::wire
