// An Exchange without a connection: the test gives the request, and reads the answer.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "wire/http.h"

namespace sabia::wire {

class FakeExchange final : public Exchange, private BodyReader {
 public:
  FakeExchange(RequestHead head, std::string body)
      : head_(std::move(head)), body_(std::move(body)) {
    if (!head_.chunked) head_.content_length = body_.size();
  }

  const RequestHead& head() const override { return head_; }
  BodyReader& body() override { return *this; }
  Status Send(const Response& response) override {
    CHECK(!answered_);
    answered_ = true;
    answer_ = response;
    return {};
  }
  Status Begin(unsigned status, const Headers& headers, std::uint64_t content_length) override {
    CHECK(!answered_);
    answered_ = true;
    answer_ = {status, headers, {}};
    promised_ = content_length;
    return {};
  }
  Status Write(std::string_view data) override {
    answer_.body.append(data);
    return {};
  }
  Status BeginChunked(unsigned status, const Headers& headers) override {
    return Begin(status, headers, 0);
  }
  Status End() override {
    ended_ = true;
    return {};
  }
  Status SendFile(int fd, std::uint64_t offset, std::uint64_t length) override {
    std::string content(length, '\0');
    CHECK(::pread(fd, content.data(), length, static_cast<off_t>(offset)) ==
          static_cast<ssize_t>(length));
    return Write(content);
  }
  std::unique_ptr<LaterAnswer> Later() override {
    if (!answers_later) return nullptr;
    answered_ = true;
    return std::make_unique<FakeLater>(answer_);
  }
  bool answered() const override { return answered_; }
  unsigned status() const override { return answered_ ? answer_.status : 0; }

  const Response& answer() const { return answer_; }
  std::uint64_t promised() const { return promised_; }
  bool ended() const { return ended_; }  // of a chunked answer
  std::size_t unread() const { return body_.size() - position_; }

  bool answers_later = false;

 private:
  class FakeLater final : public LaterAnswer {
   public:
    explicit FakeLater(Response& answer) : answer_(answer) {}
    void Send(const Response& response) override { answer_ = response; }

   private:
    Response& answer_;
  };

  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), body_.size() - position_);
    std::copy_n(body_.data() + position_, n, out.data());
    position_ += n;
    return n;
  }

  RequestHead head_;
  std::string body_;
  std::size_t position_ = 0;
  Response answer_;
  std::uint64_t promised_ = 0;
  bool answered_ = false;
  bool ended_ = false;
};

}  // namespace sabia::wire
