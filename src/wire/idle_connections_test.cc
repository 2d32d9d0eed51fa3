#include "wire/idle_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "env/posix/posix_files.h"
#include "wire/http_client.h"

namespace sabia::wire {
namespace {

// Answers every request with 200 and nothing, and counts connections.
class CountingServer {
 public:
  CountingServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    url_ = fmt::format("http://127.0.0.1:{}/", ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~CountingServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);  // accept fails, and the thread ends
    thread_.join();
  }
  const std::string& url() const { return url_; }
  int connections() const { return connections_; }

 private:
  void Serve() {
    std::vector<env::UniqueFd> open;
    while (true) {
      std::vector<pollfd> items = {{listener_.get(), POLLIN, 0}};
      for (const env::UniqueFd& fd : open) items.push_back({fd.get(), POLLIN, 0});
      ::poll(items.data(), items.size(), -1);
      for (std::size_t i = items.size(); i-- > 1;) {
        if (items[i].revents != 0 && !Answer(items[i].fd))
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      }
      if (items[0].revents == 0) continue;
      env::UniqueFd fd(::accept(listener_.get(), nullptr, nullptr));
      if (!fd) return;
      ++connections_;
      open.push_back(std::move(fd));
    }
  }
  // A request without a body comes in one piece here.
  static bool Answer(int fd) {
    std::array<char, 4096> request{};
    if (::recv(fd, request.data(), request.size(), 0) <= 0) return false;
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    return ::send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) > 0;
  }

  env::UniqueFd listener_;
  std::string url_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

TEST(IdleConnections, OutliveTheirClientWhereThatIsWanted) {
  CountingServer server;
  const auto call = [&] {
    HttpClient client({});
    const auto answer = client.Perform({.url = server.url()});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200u);
  };
  call();
  call();
  EXPECT_EQ(server.connections(), 2);
  KeepIdleConnections(1);
  call();
  call();
  call();
  EXPECT_EQ(server.connections(), 3);
  KeepIdleConnections(0);
  call();  // over the one that was kept, which it does not keep
  EXPECT_EQ(server.connections(), 3);
  call();
  EXPECT_EQ(server.connections(), 4);
}

}  // namespace
}  // namespace sabia::wire
