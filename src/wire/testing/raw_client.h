// A bare TCP client for tests of the server: sends bytes as told, reads until a condition holds.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "env/posix/posix_files.h"

namespace sabia::wire {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }

  // False when the server has closed the connection.
  bool Send(std::string_view data) {
    while (!data.empty()) {
      const ssize_t n = ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void FinishSending() { ::shutdown(socket_.get(), SHUT_WR); }

  // One answer: its head and, by Content-Length, its body. What comes behind stays for the next
  // call. Empty when the server closed first or said nothing for ten seconds.
  std::string ReadAnswer(bool is_head = false) {
    std::size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadSome()) return {};
    }
    end += 4;
    if (!is_head) end += ContentLength(std::string_view(received_).substr(0, end));
    while (received_.size() < end) {
      if (!ReadSome()) return {};
    }
    std::string answer = received_.substr(0, end);
    received_.erase(0, end);
    return answer;
  }
  std::string Ask(std::string_view request) {
    Send(request);
    return ReadAnswer();
  }
  // Everything until the server closes.
  std::string ReadToEnd() {
    while (ReadSome()) {
    }
    return std::exchange(received_, {});
  }
  bool closed() const { return closed_; }
  int fd() const { return socket_.get(); }

 private:
  static std::size_t ContentLength(std::string_view head) {
    constexpr std::string_view kName = "Content-Length: ";
    const std::size_t at = head.find(kName);
    return at == std::string_view::npos ? 0
                                        : std::stoul(std::string(head.substr(at + kName.size())));
  }

  bool ReadSome() {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 10'000) <= 0) return false;
    char block[64 << 10];
    const ssize_t n = ::recv(socket_.get(), block, sizeof block, 0);
    if (n <= 0) {
      closed_ = true;
      return false;
    }
    received_.append(block, static_cast<std::size_t>(n));
    return true;
  }

  env::UniqueFd socket_;
  std::string received_;
  bool closed_ = false;
};

}  // namespace sabia::wire
