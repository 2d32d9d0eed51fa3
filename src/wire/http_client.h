// One HTTP request at a time over libcurl, with the connection kept alive between them.
//
// Nothing is retried here (signed_client.h does). Errors: kUnavailable: no connection, or it broke;
// kTimeout: nothing moved for the stall timeout; and whatever the sink answered. A status of 4xx or
// 5xx is an answer, not an error. Threading: thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "wire/http.h"
#include "wire/transport.h"

namespace sabia::wire {

struct HttpClientOptions {
  Millis connect_timeout{5'000};
  Millis stall_timeout{60'000};  // at least a second
  std::string ca_bundle;         // path of trusted certificates; "": the system's
  bool direct = false;           // never through a proxy of the environment
};

struct HttpCall {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string_view body;  // or
  FileSpan file;          // streamed when fd >= 0
  // Called once, before the first byte of a 2xx answer reaches the sink.
  std::function<Status(unsigned status, const Headers& headers)> on_head;
  // Receives the body of a 2xx answer in pieces; without one it is collected in HttpAnswer::body.
  std::function<Status(std::string_view)> sink;
  std::size_t body_max = 64 << 20;  // of a collected body; longer is kResourceExhausted
};

struct HttpAnswer {
  unsigned status = 0;
  Headers headers;
  std::string body;  // empty where a sink took it
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpAnswer> Perform(const HttpCall& call);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sabia::wire
