// The S3 API over a fresh store, spoken to without a connection.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/testing/store_fixture.h"
#include "s3/api.h"
#include "wire/testing/fake_exchange.h"

namespace sabia::s3::testing {

// A body that vouches for what it is given, or fails after it.
class FakeS3Body final : public wire::S3Body {
 public:
  explicit FakeS3Body(std::string content) : content_(std::move(content)) {}
  Result<std::size_t> Read(std::span<char> out) override {
    if (at_ == content_.size() && failure) return tl::unexpected<Error>(*failure);
    const std::size_t n = std::min(out.size(), content_.size() - at_);
    std::copy_n(content_.data() + at_, n, out.data());
    at_ += n;
    return n;
  }
  std::optional<std::uint64_t> content_length() const override {
    return announced ? *announced : content_.size();
  }
  const wire::Headers& trailers() const override { return trailing; }
  wire::AwsError Refusal(const Error& error) const override {
    return {"XAmzContentSHA256Mismatch", 400, error.message, {}};
  }

  wire::Headers trailing;
  std::optional<Error> failure;
  std::optional<std::uint64_t> announced;

 private:
  std::string content_;
  std::size_t at_ = 0;
};

struct S3Request {
  std::string method;
  std::string target;  // "/bucket/key?query"
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

class S3Fixture : public objects::testing::StoreFixture {
 protected:
  S3Fixture() {
    context_.principal.account = "123456789012";
    context_.region = "us-west-2";
    context_.request_id = "REQUEST";
    context_.endpoint = "http://127.0.0.1:9000";
    EXPECT_TRUE(store_->CreateBucket("bkt"));
  }

  wire::Response Do(const S3Request& request) {
    FakeS3Body body(request.body);
    return Do(request, body);
  }
  wire::Response Do(const S3Request& request, FakeS3Body& body) {
    wire::RequestHead head;
    head.method = request.method;
    const std::size_t question = std::min(request.target.find('?'), request.target.size());
    head.raw_path = request.target.substr(0, question);
    if (question < request.target.size()) head.raw_query = request.target.substr(question + 1);
    for (const auto& [name, value] : request.headers) head.headers.Add(name, value);
    head.tls = tls_;
    head.peer = peer_;
    if (!head.headers.Has("host")) head.headers.Add("Host", "127.0.0.1:9000");
    wire::FakeExchange exchange(head, "");
    api_.Handle(exchange, context_, body);
    EXPECT_TRUE(exchange.answered());
    promised_ = exchange.promised();
    return exchange.answer();
  }

  // "404 NoSuchKey", or "200 ".
  std::string Outcome(const S3Request& request) {
    const wire::Response response = Do(request);
    return std::to_string(response.status) + " " + Between(response.body, "<Code>", "</Code>");
  }
  static std::string Between(const std::string& text, const std::string& from,
                             const std::string& to) {
    const std::size_t start = text.find(from);
    if (start == std::string::npos) return "";
    return text.substr(start + from.size(), text.find(to, start) - start - from.size());
  }

  S3Api api_{*store_, {.account = "123456789012"}};
  wire::CallContext context_;
  bool tls_ = false;
  std::string peer_ = "127.0.0.1:40312";
  std::uint64_t promised_ = 0;  // of the last answer that was begun
};

}  // namespace sabia::s3::testing
