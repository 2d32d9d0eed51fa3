// One HTTP/1.1 request and its answer, as handlers see them.
//
// A handler runs on a thread of the server's pool and may block (a commit, a disk). It reads the
// body at its own pace (back-pressure is the socket's), answers exactly once, and keeps nothing of
// the Exchange afterwards. A body that the handler did not read is drained up to a limit, or the
// connection is closed.
//
// Threading: an Exchange belongs to the thread that handles it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sabia::wire {

// Header fields in order; names compare without case. Small, so linear search beats a map.
class Headers {
 public:
  void Add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // Replaces every field of that name.
  void Set(std::string_view name, std::string value);
  // The first value, without surrounding blanks; nullopt when absent.
  std::optional<std::string_view> Find(std::string_view name) const;
  std::string_view Get(std::string_view name) const {
    return Find(name).value_or(std::string_view());
  }
  bool Has(std::string_view name) const { return Find(name).has_value(); }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A decoded query string: parameters in order of appearance; "?acl" has an empty value.
class QueryParameters {
 public:
  static Result<QueryParameters> Parse(std::string_view raw);
  std::optional<std::string_view> Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name).has_value(); }
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct RequestHead {
  std::string method;     // upper case
  std::string raw_path;   // as on the wire, still percent-encoded, never empty ("/" at least)
  std::string raw_query;  // without "?", still percent-encoded
  Headers headers;
  std::optional<std::uint64_t> content_length;  // nullopt: chunked, or no body
  bool chunked = false;
  bool tls = false;
  std::string peer;  // "127.0.0.1:40312"
};

struct Response {
  unsigned status = 200;
  Headers headers;  // Content-Length, Connection and Date are the server's
  std::string body;
};

// Bytes of a request body, in order. Each implementation says what it verifies on the way.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // At least one byte, or 0 at the end of the body. kUnavailable: the client went away; kTimeout:
  // it is too slow; kInvalidArgument, kDenied: the bytes are malformed or fail a checksum or
  // signature.
  virtual Result<std::size_t> Read(std::span<char> out) = 0;
};

// Reads all; kResourceExhausted beyond limit.
Result<std::string> ReadAll(BodyReader& body, std::size_t limit);

// The right to answer a request after its handler has returned. It ends with Send; one that is
// dropped answers 500. Threading: belongs to one thread at a time, which need not be the handler's.
class LaterAnswer {
 public:
  virtual ~LaterAnswer() = default;
  // Once. Never blocks on the client.
  virtual void Send(const Response& response) = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const RequestHead& head() const = 0;
  // The transfer-decoded body. The first read sends "100 Continue" if the client waits for it.
  virtual BodyReader& body() = 0;

  // The whole answer at once. For HEAD, the body is counted in Content-Length and not sent.
  virtual Status Send(const Response& response) = 0;

  // A long answer: the head with its length, then exactly that many bytes by Write or SendFile.
  virtual Status Begin(unsigned status, const Headers& headers, std::uint64_t content_length) = 0;
  virtual Status Write(std::string_view data) = 0;
  // An answer whose length is not known: the head, then Write until End. Each Write leaves at once.
  virtual Status BeginChunked(unsigned status, const Headers& headers) = 0;
  virtual Status End() = 0;
  // length bytes of the descriptor from offset; sendfile(2) where the connection allows it.
  virtual Status SendFile(int fd, std::uint64_t offset, std::uint64_t length) = 0;

  // Takes the answer out of the handler's hands, so that no thread has to wait for what it waits
  // for. From then on the handler must not use this exchange, nor what it refers to, once another
  // thread may have the answer. nullptr: not possible here (unread body, more bytes of the
  // connection are in our hands); then the handler answers before it returns.
  virtual std::unique_ptr<LaterAnswer> Later() { return nullptr; }

  // Whether an answer was begun, or taken by Later; true also after a failed attempt, for it cannot
  // be repeated.
  virtual bool answered() const = 0;
  // The status that was answered; 0 before.
  virtual unsigned status() const { return 0; }
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Exchange& exchange) = 0;
};

// "OK", "Not Found": the phrases that AWS clients compare on HEAD answers.
std::string_view ReasonPhrase(unsigned status);

}  // namespace sabia::wire
