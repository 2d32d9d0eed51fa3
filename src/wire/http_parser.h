// Parses the head of a request and chunked bodies: Boost.Beast's parser behind a wall, plus the
// refusals that Beast leaves to its user (request smuggling, absolute targets, limits).
//
// Pure; one parser serves one request after another on one connection or many. Threading:
// thread-compatible.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "wire/http.h"

namespace sabia::wire {

struct HeadLimits {
  std::size_t bytes = 64 << 10;  // request line and fields together
  std::size_t fields = 128;
};

// What the server needs to know of a head and handlers do not.
struct Framing {
  bool keep_alive = true;
  bool http_1_0 = false;
  bool expect_continue = false;
};

// A refused head: the status to answer before the connection is closed. 0: the head is good.
struct HeadError {
  unsigned status = 0;
  std::string message;
  explicit operator bool() const { return status != 0; }
};

class HttpParser {
 public:
  explicit HttpParser(HeadLimits limits);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // bytes is one whole head, through its empty line. Fills head (all but tls and peer) and framing.
  HeadError ParseHead(std::string_view bytes, RequestHead& head, Framing& framing);

  struct Step {
    std::size_t consumed = 0;  // of the input
    std::size_t produced = 0;  // written to out
    bool done = false;         // the last chunk and its trailer are behind us
    bool need_more =
        false;          // nothing more can be done with this input: append to what was not consumed
    std::string error;  // malformed: the connection cannot go on
  };
  // Decodes the chunked body of the head parsed last. out is not empty.
  Step DecodeChunked(std::string_view bytes, std::span<char> out);

 private:
  class Impl;
  HeadLimits limits_;
  std::unique_ptr<Impl> impl_;
};

// Position behind the empty line that ends a head, or npos. from: where the last search, on a
// shorter prefix, ended.
std::size_t FindHeadEnd(std::string_view bytes, std::size_t from);

}  // namespace sabia::wire
