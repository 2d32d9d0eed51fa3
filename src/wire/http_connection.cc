#include "wire/http_connection.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/log.h"

namespace sabia::wire {
namespace {

std::int64_t Nanos(MonoTime time) { return time.time_since_epoch().count(); }

// The first byte of a request is a letter of its method; anything else (a TLS hello on a plain
// port) is refused at once rather than after the timeout.
bool CanStartHead(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

HttpSession::HttpSession(const Parts& parts)
    : handler_(parts.handler),
      limits_(parts.limits),
      clock_(parts.clock),
      counters_(parts.counters),
      owner_(parts.owner),
      parser_(limits_.head),
      storage_(limits_.head.bytes) {
  buffer_.storage = storage_;
}

HttpSession::Next HttpSession::Serve(Connection& connection, const std::atomic<bool>& closing) {
  Next next = Next::kClose;
  if (!connection.handshaken && !Handshake(connection, next)) return next;
  if (connection.lingering) return Linger(connection);
  if (!connection.unsent.empty() && !SendUnsent(connection)) return Next::kClose;
  std::memcpy(storage_.data(), connection.partial.data(), connection.partial.size());
  buffer_.begin = 0;
  buffer_.end = connection.partial.size();
  connection.partial.clear();
  for (;;) {
    const IoResult step = connection.transport->Read(buffer_.Room());
    if (step.status == IoStatus::kWantRead || step.status == IoStatus::kWantWrite) {
      return Rest(connection);
    }
    if (step.status != IoStatus::kDone) return EndOfStream(connection);
    buffer_.end += step.bytes;
    Turn turn = Turn::kAgain;
    while (turn == Turn::kAgain) turn = ServeHead(connection, closing);
    if (turn == Turn::kTaken) return Next::kTaken;
    if (turn == Turn::kClose) return Next::kClose;
    if (turn == Turn::kLinger) return Linger(connection);
    // A poller wakes us for bytes that arrive later; only those inside the transport it cannot see.
    if (!connection.transport->HasBuffered()) return Rest(connection);
  }
}

bool HttpSession::Handshake(Connection& connection, Next& next) {
  const IoResult step = connection.transport->Handshake();
  if (step.status == IoStatus::kDone) {
    connection.handshaken = true;
    return true;
  }
  const bool waits = step.status == IoStatus::kWantRead || step.status == IoStatus::kWantWrite;
  if (waits && !connection.expired.load()) next = Rest(connection);
  return false;
}

// Whether the connection goes on.
bool HttpSession::SendUnsent(Connection& connection) {
  TimedStream stream(*connection.transport, limits_.stream, clock_);
  const std::string unsent = std::exchange(connection.unsent, {});
  return stream.WriteAll(unsent, "") && !connection.ends;
}

HttpSession::Next HttpSession::Rest(Connection& connection) {
  const std::string_view left = buffer_.view();
  connection.partial = left;
  if (!left.empty() || !connection.handshaken) {
    if (connection.head_deadline == MonoTime{}) {
      connection.head_deadline = clock_.Mono() + limits_.header_timeout;
    }
    connection.deadline.store(Nanos(connection.head_deadline));
  } else if (connection.head_deadline != MonoTime{}) {
    connection.deadline.store(Nanos(connection.head_deadline));
  } else {
    connection.deadline.store(Nanos(clock_.Mono() + limits_.idle_timeout));
  }
  return Next::kRest;
}

HttpSession::Next HttpSession::EndOfStream(Connection& connection) {
  if (!connection.expired.load()) return Next::kClose;
  counters_.timeouts.fetch_add(1, std::memory_order_relaxed);
  if (!buffer_.view().empty()) (void)Refuse(connection, {408, "the request head took too long"});
  return Next::kClose;
}

// Closing a socket with unread bytes resets it, and a reset can overtake the answer: read and drop
// for a moment.
HttpSession::Next HttpSession::Linger(Connection& connection) {
  if (!connection.lingering) {
    connection.lingering = true;
    connection.transport->FinishWriting();
    connection.linger_deadline = Nanos(clock_.Mono() + limits_.linger);
  }
  while (connection.dropped < limits_.drain_bytes && !connection.expired.load()) {
    const IoResult step = connection.transport->Read(storage_);
    if (step.status == IoStatus::kWantRead) {
      connection.deadline.store(connection.linger_deadline);
      return Next::kRest;
    }
    if (step.status != IoStatus::kDone) break;
    connection.dropped += step.bytes;
  }
  return Next::kClose;
}

HttpSession::Turn HttpSession::ServeHead(Connection& connection, const std::atomic<bool>& closing) {
  while (buffer_.view().starts_with("\r\n")) buffer_.Consume(2);
  const std::string_view bytes = buffer_.view();
  if (bytes.empty() || bytes == "\r") return Turn::kRead;
  if (!CanStartHead(bytes.front())) return Refuse(connection, {400, "this is not an HTTP request"});
  const std::size_t end = FindHeadEnd(bytes, std::min(connection.searched, bytes.size()));
  if (end == std::string_view::npos) {
    connection.searched = bytes.size();
    if (bytes.size() < limits_.head.bytes) return Turn::kRead;
    return Refuse(connection, {431, "the request head is too large"});
  }
  connection.searched = 0;
  connection.head_deadline = MonoTime{};
  const HeadError error = parser_.ParseHead(bytes.substr(0, end), scratch_.head, scratch_.framing);
  if (error) return Refuse(connection, error);
  buffer_.Consume(end);
  scratch_.head.tls = connection.transport->tls();
  scratch_.head.peer = connection.peer;
  return Answer(connection, closing.load(std::memory_order_relaxed));
}

HttpSession::Turn HttpSession::Answer(Connection& connection, bool closing) {
  counters_.requests.fetch_add(1, std::memory_order_relaxed);
  TimedStream stream(*connection.transport, limits_.stream, clock_);
  HttpExchange exchange({stream, buffer_, parser_, scratch_, clock_, limits_.body_bytes,
                         limits_.drain_bytes, closing, owner_, &connection});
  Status sent;
  if (scratch_.head.content_length.value_or(0) > limits_.body_bytes) {
    sent = exchange.Send({413, {}, "the body is too large\n"});
  } else {
    try {
      handler_.Handle(exchange);
    } catch (const std::exception& error) {
      LogError("a request handler threw: {} {}: {}", scratch_.head.method, scratch_.head.raw_path,
               error.what());
    }
    if (exchange.taken()) return Turn::kTaken;
    if (!exchange.answered()) sent = exchange.Send({500, {}, "the request was not answered\n"});
  }
  if (sent && exchange.Finish()) return Turn::kAgain;
  return exchange.body_done() && buffer_.view().empty() ? Turn::kClose : Turn::kLinger;
}

HttpSession::Turn HttpSession::Refuse(Connection& connection, const HeadError& error) {
  counters_.refused_heads.fetch_add(1, std::memory_order_relaxed);
  LogDebug("refused a request of {}: {} {}", connection.peer, error.status, error.message);
  TimedStream stream(*connection.transport, limits_.stream, clock_);
  const std::string answer = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}\n",
      error.status, ReasonPhrase(error.status), error.message.size() + 1, error.message);
  return stream.WriteAll(answer, "") ? Turn::kLinger : Turn::kClose;
}

}  // namespace sabia::wire
