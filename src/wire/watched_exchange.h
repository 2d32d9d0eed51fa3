// An Exchange handed on to a handler, whose later answer somebody wants to see.
//
// Threading: as the Exchange; `ending` is called on the thread that answers later, before it sends:
// once an answer is out, a server that stops may go away with everything it uses.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "wire/http.h"

namespace sabia::wire {

class WatchedExchange final : public Exchange {
 public:
  // Called once, with the status.
  using Ending = std::function<void(unsigned status)>;
  // taken: called when a handler takes the answer along, before it has it.
  WatchedExchange(Exchange& inner, std::function<Ending()> taken)
      : inner_(inner), taken_(std::move(taken)) {}

  const RequestHead& head() const override { return inner_.head(); }
  BodyReader& body() override { return inner_.body(); }
  Status Send(const Response& response) override { return inner_.Send(response); }
  Status Begin(unsigned status, const Headers& headers, std::uint64_t length) override {
    return inner_.Begin(status, headers, length);
  }
  Status Write(std::string_view data) override { return inner_.Write(data); }
  Status BeginChunked(unsigned status, const Headers& headers) override {
    return inner_.BeginChunked(status, headers);
  }
  Status End() override { return inner_.End(); }
  Status SendFile(int fd, std::uint64_t offset, std::uint64_t length) override {
    return inner_.SendFile(fd, offset, length);
  }
  std::unique_ptr<LaterAnswer> Later() override {
    auto answer = inner_.Later();
    if (!answer) return nullptr;
    return std::make_unique<Answer>(std::move(answer), taken_());
  }
  bool answered() const override { return inner_.answered(); }
  unsigned status() const override { return inner_.status(); }

 private:
  class Answer final : public LaterAnswer {
   public:
    Answer(std::unique_ptr<LaterAnswer> inner, Ending ending)
        : inner_(std::move(inner)), ending_(std::move(ending)) {}
    void Send(const Response& response) override {
      ending_(response.status);
      inner_->Send(response);
    }

   private:
    const std::unique_ptr<LaterAnswer> inner_;
    const Ending ending_;
  };

  Exchange& inner_;
  const std::function<Ending()> taken_;
};

}  // namespace sabia::wire
