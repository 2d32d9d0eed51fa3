// A load generator of signed AWS requests (JSON services and S3): C connections, one request
// outstanding on each, one thread.
//
// Every request is signed anew (SigV4), so that a server that verifies has real work and one that
// does not is loaded alike. "{n}" in path and body becomes a counter. Prints one JSON object:
// requests, errors, seconds, rate, p50_us, p99_us.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#include "wire/sha256.h"
#include "wire/sigv4.h"

namespace sabia {
namespace {

struct Options {
  std::string host = "127.0.0.1";
  int port = 0;
  std::string service = "sagemaker";
  std::string target;
  std::string method = "POST";
  std::string path = "/";
  std::string query;  // encoded and sorted
  std::string body;
  std::size_t body_bytes = 0;
  std::int64_t cycle = 0;  // the counter starts again after so many; 0: never
  std::string content_type = "application/x-amz-json-1.1";
  std::string key = "AKIAEXAMPLEEXAMPLE00";
  std::string secret = "secret";
  std::string region = "us-west-2";
  int connections = 8;
  double seconds = 3;
  std::int64_t requests = 0;  // 0: by time
  std::int64_t first = 0;
};

// Requests of one shape: all but the counter, the time and the signature is made once.
class RequestMaker {
 public:
  RequestMaker(const Options& options, env::Clock& clock)
      : options_(options), clock_(clock), body_(options.body) {
    if (options.body_bytes > 0) {
      body_.resize(options.body_bytes);
      for (std::size_t i = 0; i < body_.size(); ++i) body_[i] = static_cast<char>(i * 131 % 251);
    }
    const std::string host = options.host + ":" + std::to_string(options.port);
    const bool s3 = options.service == "s3";
    if (!s3) {
      before_date_ = "content-type:" + options.content_type + "\n";
      after_date_ = "x-amz-target:" + options.target + "\n";
      signed_names_ = "content-type;host;x-amz-date;x-amz-target";
      fixed_ = "Content-Type: " + options.content_type + "\r\nX-Amz-Target: " + options.target;
    } else {
      signed_names_ = "host;x-amz-content-sha256;x-amz-date";
    }
    before_date_ += "host:" + host + "\n";
    fixed_ = " HTTP/1.1\r\nHost: " + host + "\r\n" + (fixed_.empty() ? "" : fixed_ + "\r\n");
    counted_body_ = body_.find(kCounter) != std::string::npos;
    body_hash_ = wire::Hex(wire::Sha256Of(body_));
  }

  std::string Make(std::int64_t number) {
    Date();
    const std::string counter =
        std::to_string(options_.cycle > 0 ? number % options_.cycle : number);
    std::string counted;
    if (counted_body_) counted = Replaced(body_, counter);
    const std::string& body = counted_body_ ? counted : body_;
    const std::string path = Replaced(options_.path, counter);
    const std::string hash = counted_body_ ? wire::Hex(wire::Sha256Of(body)) : body_hash_;
    const bool s3 = options_.service == "s3";
    std::string canonical =
        options_.method + "\n" + path + "\n" + options_.query + "\n" + before_date_;
    if (s3) canonical += "x-amz-content-sha256:" + hash + "\n";
    canonical +=
        "x-amz-date:" + amz_date_ + "\n" + after_date_ + "\n" + signed_names_ + "\n" + hash;
    const std::string to_sign = "AWS4-HMAC-SHA256\n" + amz_date_ + "\n" + scope_ + "\n" +
                                wire::Hex(wire::Sha256Of(canonical));
    std::string request = options_.method + " " + path +
                          (options_.query.empty() ? "" : "?" + options_.query) + fixed_ +
                          "X-Amz-Date: " + amz_date_ +
                          "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + options_.key + "/" +
                          scope_ + ", SignedHeaders=" + signed_names_ +
                          ", Signature=" + wire::Hex(wire::HmacSha256(signing_key_, to_sign));
    if (s3) request += "\r\nx-amz-content-sha256: " + hash;
    if (!body.empty()) request += "\r\nContent-Length: " + std::to_string(body.size());
    return request + "\r\n\r\n" + body;
  }

 private:
  static constexpr std::string_view kCounter = "{n}";

  static std::string Replaced(const std::string& text, const std::string& counter) {
    const auto at = text.find(kCounter);
    return at == std::string::npos ? text : std::string(text).replace(at, kCounter.size(), counter);
  }

  // The signing key changes with the day, the time stamp with the second.
  void Date() {
    const WallTime now = clock_.Wall();
    if (now - dated_ < Seconds(1)) return;
    dated_ = now;
    amz_date_ = FormatBasicIso8601(now);
    const wire::SigV4Scope scope{amz_date_.substr(0, 8), options_.region, options_.service};
    scope_ = scope.ToString();
    signing_key_ = wire::SigningKey(options_.secret, scope);
  }

  const Options& options_;
  env::Clock& clock_;
  std::string body_;
  std::string body_hash_;
  bool counted_body_ = false;
  std::string before_date_;  // canonical fields, by name
  std::string after_date_;
  std::string signed_names_;
  std::string fixed_;
  WallTime dated_{};
  std::string amz_date_;
  std::string scope_;
  wire::Digest256 signing_key_{};
};

struct Peer {
  env::UniqueFd fd;
  std::string received;
  MonoTime sent;
};

// What the front of the received bytes holds: nothing (length 0) while it is incomplete.
struct Answer {
  std::size_t length = 0;
  bool last = false;  // the server closes after it
};

Answer ParseAnswer(const std::string& received) {
  const auto end = received.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  Answer answer{end + 4, received.compare(0, 8, "HTTP/1.0") == 0};
  const std::string_view head = std::string_view(received).substr(0, end + 2);
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t next = head.find("\r\n", at);
    const std::string_view field = head.substr(at, next - at);
    const auto is = [field](std::string_view name) {
      return field.size() >= name.size() && EqualsIgnoreCase(field.substr(0, name.size()), name);
    };
    if (is("content-length:")) answer.length += std::strtoul(field.data() + 15, nullptr, 10);
    if (is("connection: close")) answer.last = true;
    at = next + 2;
  }
  if (answer.length > received.size()) answer.length = 0;
  return answer;
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
    const auto [length, last] = ParseAnswer(peer.received);
    if (length == 0 && !closed) return true;
    --outstanding_;
    if (length == 0) {
      ++errors_;
    } else {
      Count(peer, length);
      // A server that closes after each answer is met again.
      closed = closed || last;
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
  CLI::App app{"Signed AWS requests as fast as the server takes them", "load"};
  app.add_option("--host", options.host);
  app.add_option("--port", options.port)->required();
  app.add_option("--service", options.service);
  app.add_option("--target", options.target, "of JSON services");
  app.add_option("--method", options.method);
  app.add_option("--path", options.path, "\"{n}\" becomes a counter");
  app.add_option("--query", options.query, "encoded and sorted by name");
  app.add_option("--body", options.body, "\"{n}\" becomes a counter");
  app.add_option("--body-bytes", options.body_bytes, "a body of so many bytes instead");
  app.add_option("--cycle", options.cycle, "the counter starts again after so many");
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
