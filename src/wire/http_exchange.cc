#include "wire/http_exchange.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "wire/later_answer.h"

namespace sabia::wire {
namespace {

// Up to here a body is copied behind its head and leaves in one piece.
constexpr std::size_t kCopiedBodyMax = 16 << 10;
constexpr std::size_t kDrainStep = 16 << 10;

// Header injection: a value that carries a line break would start a field, or a message, of its
// own.
void AppendField(std::string& out, std::string_view name, std::string_view value) {
  const std::size_t start = out.size();
  out.append(name).append(": ").append(value);
  for (std::size_t i = start; i < out.size(); ++i) {
    if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
  }
  out.append("\r\n");
}

}  // namespace

bool HasNoBody(unsigned status) { return status == 204 || status == 304 || status < 200; }

void AppendHead(std::string& out, const AnswerHead& head) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", head.status,
                 ReasonPhrase(head.status));
  AppendField(out, "Date", head.date);
  for (const auto& [name, value] : head.headers.fields()) AppendField(out, name, value);
  if (head.length) fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", *head.length);
  if (head.chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (!head.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (head.http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

void ReadBuffer::Consume(std::size_t n) {
  begin += n;
  if (begin == end) begin = end = 0;
}

std::span<char> ReadBuffer::Room() {
  if (end == storage.size() && begin > 0) {
    std::memmove(storage.data(), storage.data() + begin, end - begin);
    end -= begin;
    begin = 0;
  }
  return storage.subspan(end);
}

HttpExchange::HttpExchange(const ExchangeContext& context) : context_(context) {
  const RequestHead& request = context_.scratch.head;
  body_left_ = request.content_length.value_or(0);
  body_done_ = !request.chunked && body_left_ == 0;
  must_continue_ = context_.scratch.framing.expect_continue && !body_done_;
  keep_alive_ = context_.scratch.framing.keep_alive && !context_.closing;
}

Result<std::size_t> HttpExchange::Read(std::span<char> out) {
  if (body_done_ || out.empty()) return 0;
  if (broken_) return Fail(ErrorCode::kUnavailable, "the connection broke");
  if (must_continue_) {
    must_continue_ = false;
    if (Status sent = context_.stream.WriteAll("HTTP/1.1 100 Continue\r\n\r\n", ""); !sent) {
      return tl::make_unexpected(Broken(std::move(sent)).error());
    }
  }
  auto got = head().chunked ? ReadChunked(out) : ReadCounted(out);
  if (!got) {
    broken_ = true;
    return got;
  }
  body_read_ += *got;
  if (body_read_ > context_.body_limit) {
    broken_ = true;
    return Fail(ErrorCode::kResourceExhausted, "the body is longer than {} bytes",
                context_.body_limit);
  }
  return got;
}

Result<std::size_t> HttpExchange::ReadCounted(std::span<char> out) {
  const std::size_t wanted = std::min<std::uint64_t>(out.size(), body_left_);
  const std::string_view held = context_.buffer.view();
  std::size_t n = std::min(held.size(), wanted);
  if (n > 0) {
    std::memcpy(out.data(), held.data(), n);
    context_.buffer.Consume(n);
  } else {
    ASSIGN_OR_RETURN(n, context_.stream.Read(out.first(wanted)));
    if (n == 0) {
      return Fail(ErrorCode::kUnavailable, "the client went away {} bytes before the body's end",
                  body_left_);
    }
  }
  body_left_ -= n;
  body_done_ = body_left_ == 0;
  return n;
}

Result<std::size_t> HttpExchange::ReadChunked(std::span<char> out) {
  for (;;) {
    HttpParser::Step step = context_.parser.DecodeChunked(context_.buffer.view(), out);
    context_.buffer.Consume(step.consumed);
    if (!step.error.empty()) return Fail(ErrorCode::kInvalidArgument, "{}", step.error);
    body_done_ = step.done;
    if (step.produced > 0 || step.done) return step.produced;
    const std::span<char> room = context_.buffer.Room();
    if (room.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a chunk header or the trailer is too long");
    }
    ASSIGN_OR_RETURN(const std::size_t n, context_.stream.Read(room));
    if (n == 0)
      return Fail(ErrorCode::kUnavailable, "the client went away in the middle of the body");
    context_.buffer.end += n;
  }
}

std::string_view HttpExchange::Date() {
  ExchangeScratch& scratch = context_.scratch;
  const WallTime now = context_.clock.Wall();
  const std::int64_t second = ToUnixMillis(now) / 1000;
  if (second != scratch.date_second) {
    scratch.date = FormatRfc1123(now);
    scratch.date_second = second;
  }
  return scratch.date;
}

void HttpExchange::FormatHead(unsigned status, const Headers& headers,
                              std::variant<std::uint64_t, Length> length) {
  CHECK(!answered_);
  answered_ = true;
  status_ = status;
  // A client that still waits for "100 Continue" may or may not send its body now: the stream
  // cannot go on.
  if (broken_ || must_continue_ || body_left_ > context_.drain_limit) keep_alive_ = false;
  must_continue_ = false;  // too late to say it
  std::string& out = context_.scratch.out;
  out.clear();
  bool chunked = false;
  if (length.index() == 1 && std::get<Length>(length) == Length::kChunked) {
    // A client of HTTP/1.0 knows no chunks: the end of the connection ends the answer.
    chunked = !context_.scratch.framing.http_1_0;
    keep_alive_ = keep_alive_ && chunked;
  }
  const auto* bytes = std::get_if<std::uint64_t>(&length);
  AppendHead(out, {status, headers, bytes ? std::optional(*bytes) : std::nullopt, Date(),
                   keep_alive_, context_.scratch.framing.http_1_0, chunked});
}

std::unique_ptr<LaterAnswer> HttpExchange::Later() {
  const bool quiet = body_done_ && context_.buffer.view().empty();
  if (context_.owner == nullptr || !quiet || answered_ || broken_ || must_continue_) return nullptr;
  if (context_.connection->transport->HasBuffered()) return nullptr;
  answered_ = taken_ = true;
  return TakeConnection({*context_.owner, context_.connection, head().method == "HEAD", keep_alive_,
                         context_.scratch.framing.http_1_0, std::string(Date())});
}

Status HttpExchange::Broken(Status status) {
  if (!status) broken_ = true;
  return status;
}

Status HttpExchange::Flush(std::string_view body) {
  std::string& out = context_.scratch.out;
  if (body.size() <= kCopiedBodyMax && !out.empty()) {
    out.append(body);
    body = {};
  }
  Status sent = context_.stream.WriteAll(out, body);
  out.clear();
  return Broken(std::move(sent));
}

Status HttpExchange::Send(const Response& response) {
  const bool bare = HasNoBody(response.status);
  if (bare) {
    FormatHead(response.status, response.headers, Length::kNone);
  } else {
    FormatHead(response.status, response.headers, response.body.size());
  }
  const bool silent = bare || head().method == "HEAD";
  return Flush(silent ? std::string_view() : std::string_view(response.body));
}

Status HttpExchange::Begin(unsigned status, const Headers& headers, std::uint64_t content_length) {
  const bool bare = HasNoBody(status);
  if (bare) {
    FormatHead(status, headers, Length::kNone);
  } else {
    FormatHead(status, headers, content_length);
  }
  answer_left_ = bare ? 0 : content_length;
  return {};
}

Status HttpExchange::BeginChunked(unsigned status, const Headers& headers) {
  CHECK(!HasNoBody(status));
  FormatHead(status, headers, Length::kChunked);
  chunked_ = true;
  return {};
}

Status HttpExchange::End() {
  CHECK(chunked_);
  chunked_ = false;
  if (head().method == "HEAD" || context_.scratch.framing.http_1_0) return {};
  if (broken_) return Fail(ErrorCode::kUnavailable, "the connection broke");
  return Flush("0\r\n\r\n");
}

Status HttpExchange::WriteChunk(std::string_view data) {
  if (data.empty() || head().method == "HEAD") return {};  // an empty chunk would be the end
  if (broken_) return Fail(ErrorCode::kUnavailable, "the connection broke");
  if (context_.scratch.framing.http_1_0) return Flush(data);
  std::string& out = context_.scratch.out;
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", data.size());
  RETURN_IF_ERROR(Flush(data));
  return Flush("\r\n");
}

Status HttpExchange::Write(std::string_view data) {
  if (chunked_) return WriteChunk(data);
  CHECK(data.size() <= answer_left_);
  answer_left_ -= data.size();
  if (head().method == "HEAD") return {};
  if (broken_) return Fail(ErrorCode::kUnavailable, "the connection broke");
  return Flush(data);
}

Status HttpExchange::SendFile(int fd, std::uint64_t offset, std::uint64_t length) {
  CHECK(length <= answer_left_);
  answer_left_ -= length;
  if (head().method == "HEAD") return {};
  if (broken_) return Fail(ErrorCode::kUnavailable, "the connection broke");
  std::string& out = context_.scratch.out;
  if (!out.empty()) {
    const std::size_t head_size = out.size();
    if (length <= kCopiedBodyMax) {
      out.resize(head_size + length);
      if (::pread(fd, out.data() + head_size, length, static_cast<off_t>(offset)) ==
          static_cast<ssize_t>(length)) {
        return Flush({});
      }
      out.resize(head_size);
    }
    RETURN_IF_ERROR(Flush({}));
  }
  return Broken(context_.stream.SendFile({fd, offset, length}));
}

bool HttpExchange::Finish() {
  if (!answered_) return false;
  if (!context_.scratch.out.empty() && !broken_) (void)Flush({});
  if ((answer_left_ > 0 && head().method != "HEAD") || chunked_) return false;
  if (broken_ || !keep_alive_) return false;
  char unread[kDrainStep];
  std::uint64_t drained = 0;
  while (!body_done_) {
    const auto got = Read(unread);
    if (!got) return false;
    drained += *got;
    if (drained > context_.drain_limit) return false;
  }
  return true;
}

}  // namespace sabia::wire
