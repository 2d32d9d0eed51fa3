// A load generator of signed AWS JSON requests: C connections, one request outstanding on each, one
// thread.
//
// Every request is signed anew (SigV4), so that a server that verifies has real work and one that
// does not is loaded alike. "{n}" in the body becomes a counter. Prints one JSON object: requests,
// errors, seconds, rate, p50_us, p99_us.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/time.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"

namespace sabia {
namespace {

struct Options {
  std::string host = "127.0.0.1";
  int port = 0;
  std::string service = "sagemaker";
  std::string target;
  std::string body = "{}";
  std::string content_type = "application/x-amz-json-1.1";
  std::string key = "AKIAEXAMPLEEXAMPLE00";
  std::string secret = "secret";
  std::string region = "us-west-2";
  int connections = 8;
  double seconds = 3;
  std::int64_t requests = 0;  // 0: by time
  std::int64_t first = 0;
};

std::string Sha256(std::string_view data) {
  std::array<unsigned char, 32> out{};
  EVP_Digest(data.data(), data.size(), out.data(), nullptr, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

std::string HmacSha256(std::string_view key, std::string_view data) {
  std::array<unsigned char, 32> out{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), out.data(), nullptr);
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

class RequestMaker {
 public:
  RequestMaker(const Options& options, env::Clock& clock) : options_(options), clock_(clock) {}

  std::string Make(std::int64_t number) {
    const std::string amz_date = FormatBasicIso8601(clock_.Wall());
    const std::string date = amz_date.substr(0, 8);
    const std::string scope =
        date + "/" + options_.region + "/" + options_.service + "/aws4_request";
    if (scope != scope_) {
      scope_ = scope;
      signing_key_ = HmacSha256(
          HmacSha256(HmacSha256(HmacSha256("AWS4" + options_.secret, date), options_.region),
                     options_.service),
          "aws4_request");
    }
    std::string body = options_.body;
    if (const auto at = body.find("{n}"); at != std::string::npos) {
      body.replace(at, 3, std::to_string(number));
    }
    const std::string host = options_.host + ":" + std::to_string(options_.port);
    const std::string canonical =
        "POST\n/\n\ncontent-type:" + options_.content_type + "\nhost:" + host +
        "\nx-amz-date:" + amz_date + "\nx-amz-target:" + options_.target +
        "\n\ncontent-type;host;x-amz-date;x-amz-target\n" + HexEncode(Sha256(body));
    const std::string to_sign =
        "AWS4-HMAC-SHA256\n" + amz_date + "\n" + scope + "\n" + HexEncode(Sha256(canonical));
    return "POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " + options_.content_type +
           "\r\nX-Amz-Date: " + amz_date + "\r\nX-Amz-Target: " + options_.target +
           "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + options_.key + "/" + scope +
           ", SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" +
           HexEncode(HmacSha256(signing_key_, to_sign)) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  const Options& options_;
  env::Clock& clock_;
  std::string scope_;
  std::string signing_key_;
};

struct Peer {
  env::UniqueFd fd;
  std::string received;
  MonoTime sent;
};

// Length of the complete answer at the front, or 0 while it is incomplete.
std::size_t AnswerLength(const std::string& received) {
  const auto head = received.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  const std::string lower = ToLower(std::string_view(received).substr(0, head));
  const auto at = lower.find("content-length:");
  const std::size_t length =
      at == std::string::npos ? 0 : std::strtoul(lower.c_str() + at + 15, nullptr, 10);
  return received.size() >= head + 4 + length ? head + 4 + length : 0;
}

bool ClosesAfter(const std::string& answer) {
  const std::string head = ToLower(std::string_view(answer).substr(0, answer.find("\r\n\r\n")));
  return head.compare(0, 8, "http/1.0") == 0 || head.find("connection: close") != std::string::npos;
}

class Load {
 public:
  Load(const Options& options, env::Clock& clock)
      : options_(options), clock_(clock), maker_(options, clock), next_(options.first) {}

  int Run() {
    poll_.Reset(::epoll_create1(EPOLL_CLOEXEC));
    peers_.resize(static_cast<std::size_t>(options_.connections));
    const MonoTime start = clock_.Mono();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (!Connect(i)) return 1;
      Send(peers_[i]);
    }
    const auto limit = std::chrono::nanoseconds(static_cast<std::int64_t>(options_.seconds * 1e9));
    while (outstanding_ > 0) {
      std::array<epoll_event, 64> events{};
      const int n =
          ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), 30'000);
      if (n <= 0) return Lost("no answer for 30 s");
      for (int i = 0; i < n; ++i) {
        const bool go_on = options_.requests > 0 ? next_ - options_.first < options_.requests
                                                 : clock_.Mono() - start < limit;
        if (!Receive(peers_[events[static_cast<std::size_t>(i)].data.u64], go_on)) return 1;
      }
    }
    Print(std::chrono::duration<double>(clock_.Mono() - start).count());
    return 0;
  }

 private:
  int Lost(const char* why) {
    std::fprintf(stderr, "load: %s\n", why);
    return 1;
  }

  bool Connect(std::size_t index) {
    Peer& peer = peers_[index];
    peer.received.clear();
    peer.fd.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    ::inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr);
    if (::connect(peer.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
        0) {
      return Lost("cannot connect") == 0;
    }
    const int one = 1;
    ::setsockopt(peer.fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, peer.fd.get(), &event);
    return true;
  }

  void Send(Peer& peer) {
    const std::string request = maker_.Make(next_++);
    peer.sent = clock_.Mono();
    ++outstanding_;
    if (!env::WriteAll(peer.fd.get(), request)) ++errors_;
  }

  bool Receive(Peer& peer, bool go_on) {
    std::array<char, 64 << 10> buffer;
    const ssize_t n = ::read(peer.fd.get(), buffer.data(), buffer.size());
    bool closed = n <= 0;
    if (n > 0) peer.received.append(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t length = AnswerLength(peer.received);
    if (length == 0 && !closed) return true;
    --outstanding_;
    if (length == 0) {
      ++errors_;
    } else {
      Count(peer, length);
      // A server that closes after each answer is met again.
      closed = closed || ClosesAfter(peer.received);
      peer.received.erase(0, length);
    }
    if (!go_on) return true;
    if (closed && !Connect(static_cast<std::size_t>(&peer - peers_.data()))) return false;
    Send(peer);
    return true;
  }

  void Count(const Peer& peer, std::size_t length) {
    ++answers_;
    if (peer.received.compare(9, 1, "2") != 0) {
      if (errors_++ == 0) {
        std::fprintf(stderr, "load: first error: %s\n", peer.received.substr(0, length).c_str());
      }
    }
    latencies_.push_back(
        std::chrono::duration<double, std::micro>(clock_.Mono() - peer.sent).count());
  }

  void Print(double seconds) {
    std::sort(latencies_.begin(), latencies_.end());
    const auto at = [this](double share) {
      return latencies_.empty()
                 ? 0.0
                 : latencies_[std::min(
                       latencies_.size() - 1,
                       static_cast<std::size_t>(share * static_cast<double>(latencies_.size())))];
    };
    std::printf(
        "{\"requests\": %zu, \"errors\": %zu, \"seconds\": %.3f, \"rate\": %.1f, "
        "\"p50_us\": %.1f, \"p99_us\": %.1f}\n",
        answers_, errors_, seconds, static_cast<double>(answers_) / seconds, at(0.5), at(0.99));
  }

  const Options& options_;
  env::Clock& clock_;
  RequestMaker maker_;
  env::UniqueFd poll_;
  std::vector<Peer> peers_;
  std::vector<double> latencies_;
  std::int64_t next_;
  std::size_t outstanding_ = 0;
  std::size_t answers_ = 0;
  std::size_t errors_ = 0;
};

}  // namespace
}  // namespace sabia

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  sabia::Options options;
  CLI::App app{"Signed AWS JSON requests as fast as the server takes them", "load"};
  app.add_option("--host", options.host);
  app.add_option("--port", options.port)->required();
  app.add_option("--service", options.service);
  app.add_option("--target", options.target)->required();
  app.add_option("--body", options.body, "\"{n}\" becomes a counter");
  app.add_option("--content-type", options.content_type);
  app.add_option("--key", options.key);
  app.add_option("--secret", options.secret);
  app.add_option("--region", options.region);
  app.add_option("--connections", options.connections);
  app.add_option("--seconds", options.seconds);
  app.add_option("--requests", options.requests, "stop after so many instead of by time");
  app.add_option("--first", options.first, "where the counter starts");
  CLI11_PARSE(app, argc, argv);
  sabia::env::PosixClock clock;
  return sabia::Load(options, clock).Run();
}
