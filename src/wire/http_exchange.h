// The server's Exchange: one request on one connection.
//
// Threading: belongs to the worker that serves the connection.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "wire/http.h"
#include "wire/http_parser.h"
#include "wire/transport.h"

namespace sabia::wire {

// Bytes that were received and not yet consumed: a window on a worker's buffer of fixed capacity.
struct ReadBuffer {
  std::span<char> storage;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::string_view view() const { return {storage.data() + begin, end - begin}; }
  void Consume(std::size_t n);
  // Free room behind the data, after moving it to the front if that is needed; empty when the
  // buffer is full.
  std::span<char> Room();
};

struct Connection;
class ConnectionOwner;

// One per worker, used again for every request, so that its strings keep their memory.
struct ExchangeScratch {
  RequestHead head;
  Framing framing;
  std::string out;   // the head of the answer, and small bodies behind it
  std::string date;  // of the second date_second
  std::int64_t date_second = -1;
};

// What the first lines of an answer say.
struct AnswerHead {
  unsigned status = 200;
  const Headers& headers;
  std::optional<std::uint64_t> length;
  std::string_view date;
  bool keep_alive = true;
  bool http_1_0 = false;
  bool chunked = false;
};
void AppendHead(std::string& out, const AnswerHead& head);
// Whether answers of this status never have a body.
bool HasNoBody(unsigned status);

struct ExchangeContext {
  TimedStream& stream;
  ReadBuffer& buffer;
  HttpParser& parser;
  ExchangeScratch& scratch;
  env::Clock& clock;
  std::uint64_t body_limit = 0;  // longest body that a handler may read
  std::uint64_t drain_limit =
      0;                 // of an unread body, so much is read and dropped to keep the connection
  bool closing = false;  // the server stops: the answer says so
  // For Later(); nullptr: not here.
  ConnectionOwner* owner = nullptr;
  Connection* connection = nullptr;
};

class HttpExchange final : public Exchange, private BodyReader {
 public:
  explicit HttpExchange(const ExchangeContext& context);

  const RequestHead& head() const override { return context_.scratch.head; }
  BodyReader& body() override { return *this; }
  Status Send(const Response& response) override;
  Status Begin(unsigned status, const Headers& headers, std::uint64_t content_length) override;
  Status Write(std::string_view data) override;
  Status BeginChunked(unsigned status, const Headers& headers) override;
  Status End() override;
  Status SendFile(int fd, std::uint64_t offset, std::uint64_t length) override;
  std::unique_ptr<LaterAnswer> Later() override;
  bool answered() const override { return answered_; }

  unsigned status() const override { return status_; }
  bool body_done() const { return body_done_; }
  // Later() took the connection along: whoever answers gives it back to the server.
  bool taken() const { return taken_; }
  // Flushes and drains the body. Whether the connection can serve another request.
  bool Finish();

 private:
  Result<std::size_t> Read(std::span<char> out) override;
  Result<std::size_t> ReadCounted(std::span<char> out);
  Result<std::size_t> ReadChunked(std::span<char> out);
  enum class Length { kNone, kChunked };
  void FormatHead(unsigned status, const Headers& headers,
                  std::variant<std::uint64_t, Length> length);
  Status WriteChunk(std::string_view data);
  Status Flush(std::string_view body);
  Status Broken(Status status);
  std::string_view Date();

  ExchangeContext context_;
  std::uint64_t body_left_ = 0;  // counted bodies
  std::uint64_t body_read_ = 0;
  std::uint64_t answer_left_ = 0;  // promised by Begin and not yet written
  unsigned status_ = 0;
  bool body_done_ = false;
  bool must_continue_ = false;  // the client waits for "100 Continue"
  bool answered_ = false;
  bool taken_ = false;
  bool keep_alive_ = true;
  bool broken_ = false;
  bool chunked_ = false;  // the answer; not ended yet
};

}  // namespace sabia::wire
