#include "wire/http_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>
#include <optional>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

// Receives Beast's callbacks; keeps no copy of what it does not need.
class Sink final : public http::basic_parser<true> {
 public:
  Sink(const HeadLimits& limits, RequestHead* head) : limits_(limits), head_(head) {
    header_limit(static_cast<std::uint32_t>(limits.bytes));
    body_limit(boost::none);
    eager(false);
  }

  std::string target;
  int version = 11;
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  bool too_many_fields = false;
  std::span<char> out;
  std::size_t produced = 0;

 private:
  using Error = beast::error_code;
  using Text = beast::string_view;

  void on_request_impl(http::verb, Text method, Text raw_target, int http_version,
                       Error&) override {
    head_->method = View(method);
    target = View(raw_target);
    version = http_version;
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(http::field field, Text name, Text value, Error& error) override {
    if (head_ == nullptr) return;  // a trailer: nothing of ours travels there
    if (head_->headers.fields().size() == limits_.fields) {
      too_many_fields = true;
      error = http::error::header_limit;
      return;
    }
    hosts += field == http::field::host;
    lengths += field == http::field::content_length;
    encodings += field == http::field::transfer_encoding;
    head_->headers.Add(std::string(View(name)), std::string(View(value)));
  }
  void on_header_impl(Error&) override { head_ = nullptr; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
    const std::size_t n = std::min(body.size(), out.size() - produced);
    std::memcpy(out.data() + produced, body.data(), n);
    produced += n;
    return n;
  }
  void on_finish_impl(Error&) override {}

  const HeadLimits& limits_;
  RequestHead* head_;
};

HeadError Refused(unsigned status, std::string message) { return {status, std::move(message)}; }

HeadError FromBeast(const beast::error_code& error, bool too_many_fields) {
  if (too_many_fields) return Refused(431, "the request has too many header fields");
  if (error == http::error::header_limit) return Refused(431, "the request head is too large");
  if (error == http::error::bad_version)
    return Refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken");
  return Refused(400, "the request head is malformed: " + error.message());
}

// "/path?query", or the absolute form that proxies send, whose authority replaces the Host field.
HeadError SplitTarget(std::string_view target, RequestHead& head) {
  if (!target.starts_with('/')) {
    const std::size_t scheme = target.find("://");
    if (scheme == std::string_view::npos ||
        !(EqualsIgnoreCase(target.substr(0, scheme), "http") ||
          EqualsIgnoreCase(target.substr(0, scheme), "https"))) {
      return Refused(400, "the request target must be a path or an absolute URL");
    }
    target.remove_prefix(scheme + 3);
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    head.headers.Set("Host", std::string(target.substr(0, end)));
    target.remove_prefix(end);
  }
  const std::size_t question = target.find('?');
  head.raw_path = target.substr(0, question);
  if (head.raw_path.empty()) head.raw_path = "/";
  head.raw_query = question == std::string_view::npos ? "" : target.substr(question + 1);
  return {};
}

// Two readers of one stream must agree where a message ends: anything ambiguous is refused.
HeadError CheckFraming(const Sink& sink, const RequestHead& head) {
  if (sink.lengths > 1) return Refused(400, "Content-Length is given more than once");
  if (sink.encodings > 0 && sink.lengths > 0) {
    return Refused(400, "Content-Length and Transfer-Encoding exclude each other");
  }
  if (sink.encodings > 0 && sink.version == 10) {
    return Refused(400, "HTTP/1.0 has no Transfer-Encoding");
  }
  if (sink.encodings > 1 || (sink.encodings == 1 &&
                             !EqualsIgnoreCase(head.headers.Get("Transfer-Encoding"), "chunked"))) {
    return Refused(501, "the only supported Transfer-Encoding is 'chunked'");
  }
  if (sink.lengths == 1 && head.headers.Get("Content-Length").find(',') != std::string_view::npos) {
    return Refused(400, "Content-Length must be one number");
  }
  if (sink.hosts > 1 || (sink.hosts == 0 && sink.version == 11)) {
    return Refused(400, "a request has exactly one Host field");
  }
  return {};
}

}  // namespace

class HttpParser::Impl {
 public:
  std::optional<Sink> sink;
};

HttpParser::HttpParser(HeadLimits limits) : limits_(limits), impl_(std::make_unique<Impl>()) {}
HttpParser::~HttpParser() = default;

HeadError HttpParser::ParseHead(std::string_view bytes, RequestHead& head, Framing& framing) {
  head.headers = Headers();
  Sink& sink = impl_->sink.emplace(limits_, &head);
  beast::error_code error;
  const std::size_t used = sink.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error) return FromBeast(error, sink.too_many_fields);
  if (used != bytes.size() || !sink.is_header_done()) {
    return Refused(400, "the request head is malformed");
  }
  if (HeadError refused = CheckFraming(sink, head)) return refused;
  if (HeadError refused = SplitTarget(sink.target, head)) return refused;
  head.chunked = sink.chunked();
  head.content_length.reset();
  if (sink.lengths == 1) head.content_length = sink.content_length().value_or(0);
  framing.http_1_0 = sink.version == 10;
  framing.keep_alive = sink.keep_alive();
  framing.expect_continue = false;
  if (const auto expect = head.headers.Find("Expect"); expect && !framing.http_1_0) {
    if (!EqualsIgnoreCase(*expect, "100-continue")) {
      return Refused(417, "the only supported expectation is '100-continue'");
    }
    framing.expect_continue = true;
  }
  return {};
}

HttpParser::Step HttpParser::DecodeChunked(std::string_view bytes, std::span<char> out) {
  Step step;
  Sink& sink = *impl_->sink;
  sink.out = out;
  sink.produced = 0;
  while (!sink.is_done() && sink.produced < out.size() && step.consumed < bytes.size()) {
    beast::error_code error;
    step.consumed += sink.put(
        boost::asio::buffer(bytes.data() + step.consumed, bytes.size() - step.consumed), error);
    if (error == http::error::need_more) {
      step.need_more = true;
      break;
    }
    if (error) {
      step.error = "the chunked body is malformed: " + error.message();
      return step;
    }
  }
  step.produced = sink.produced;
  step.done = sink.is_done();
  step.need_more = !step.done && (step.need_more || step.consumed == bytes.size());
  return step;
}

std::size_t FindHeadEnd(std::string_view bytes, std::size_t from) {
  // The empty line may straddle the place where the last search ended.
  const std::size_t start = from < 3 ? 0 : from - 3;
  const std::size_t at = bytes.find("\r\n\r\n", start);
  return at == std::string_view::npos ? at : at + 4;
}

}  // namespace sabia::wire
