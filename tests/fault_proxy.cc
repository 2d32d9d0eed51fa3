// A proxy in front of an HTTP endpoint that does to clients what networks and busy services do.
//
//   fault_proxy HOST:PORT        listens on a free port of 127.0.0.1 and prints it
//
// GET
// /-faults?delay_ms=20&fail=3&status=503&retry_after=1&truncate=2&reset=2&flip=1&stall=1&kbps=64
//   replaces the faults: every request waits delay_ms; the next `fail` matching requests are
//   answered `status`; of the next `truncate` answers half the body comes, then a clean end;
//   `reset`: then a reset; `flip`: one byte is changed; `stall`: half the body comes, then nothing;
//   kbps limits the rate of bodies. method=GET (the default) says which requests match; method=*
//   all; contains=TEXT: only targets with this text.
// GET /-stats  {"requests":…,"get":…,"bytes":…} since the last /-faults: what reached the endpoint,
// and
//   the bytes of bodies that came back.
//
// One thread per connection; it ends with the process that started it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr std::size_t kBlock = 256 << 10;

struct Faults {
  int delay_ms = 0;
  int fail = 0;
  int status = 503;
  int retry_after = -1;
  int truncate = 0;
  int reset = 0;
  int flip = 0;
  int stall = 0;
  int kbps = 0;
  std::string method = "GET";
  std::string contains;
};

std::mutex faults_mutex;
Faults faults;
std::atomic<long> requests{0};
std::atomic<long> gets{0};
std::atomic<long> bytes{0};

enum class Fault { kNone, kFail, kTruncate, kReset, kFlip, kStall };

void Sleep(long ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

bool SendAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// A connection with what was read ahead of it.
struct Stream {
  int fd = -1;
  std::string ahead;

  // Head up to and with the empty line; "" at the end of the stream.
  std::string Head() {
    std::size_t end;
    char block[16 << 10];
    while ((end = ahead.find("\r\n\r\n")) == std::string::npos) {
      const ssize_t n = ::recv(fd, block, sizeof block, 0);
      if (n <= 0 || ahead.size() > (1 << 20)) return {};
      ahead.append(block, static_cast<std::size_t>(n));
    }
    std::string head = ahead.substr(0, end + 4);
    ahead.erase(0, end + 4);
    return head;
  }
};

std::string Field(const std::string& head, std::string_view name) {
  std::string lower = head;
  std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
  const std::size_t at = lower.find("\r\n" + std::string(name) + ":");
  if (at == std::string::npos) return {};
  std::size_t begin = at + 3 + name.size();
  while (head[begin] == ' ') ++begin;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

void RemoveField(std::string& head, std::string_view name) {
  std::string lower = head;
  std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
  const std::size_t at = lower.find("\r\n" + std::string(name) + ":");
  if (at != std::string::npos) head.erase(at, head.find("\r\n", at + 2) - at);
}

// Moves the body: by splice where nothing has to be seen. left < 0: until the other side closes.
class Pump {
 public:
  Pump(Stream& from, int to, int kbps) : from_(from), to_(to), kbps_(kbps) {}
  ~Pump() {
    if (pipe_[0] >= 0) ::close(pipe_[0]), ::close(pipe_[1]);
  }

  bool Move(long left) {
    while (left != 0) {
      if (!from_.ahead.empty()) {
        const std::size_t n =
            left < 0 ? from_.ahead.size()
                     : std::min<std::size_t>(from_.ahead.size(), static_cast<std::size_t>(left));
        if (!SendAll(to_, std::string_view(from_.ahead).substr(0, n))) return false;
        from_.ahead.erase(0, n);
        if (left > 0) left -= static_cast<long>(n);
        Count(static_cast<long>(n));
        continue;
      }
      const long n = Splice(left < 0 ? static_cast<long>(kBlock) : left);
      if (n <= 0) return left < 0 && n == 0;
      if (left > 0) left -= n;
      Count(n);
    }
    return true;
  }

  // One byte in the middle of the first block is changed.
  bool MoveFlipped(long left) {
    char block[4096];
    if (from_.ahead.empty()) {
      const ssize_t n = ::recv(from_.fd, block, sizeof block, 0);
      if (n <= 0) return false;
      from_.ahead.assign(block, static_cast<std::size_t>(n));
    }
    from_.ahead[std::min(from_.ahead.size(), static_cast<std::size_t>(left)) / 2] ^= 1;
    return Move(left);
  }

 private:
  long Splice(long wanted) {
    if (pipe_[0] < 0 && ::pipe2(pipe_, O_CLOEXEC) != 0) return -1;
    const std::size_t most = std::min<std::size_t>(kBlock, static_cast<std::size_t>(wanted));
    const ssize_t n = ::splice(from_.fd, nullptr, pipe_[1], nullptr, most, SPLICE_F_MOVE);
    for (ssize_t left = n; left > 0;) {
      const ssize_t moved =
          ::splice(pipe_[0], nullptr, to_, nullptr, static_cast<std::size_t>(left), SPLICE_F_MOVE);
      if (moved <= 0) return -1;
      left -= moved;
    }
    return n;
  }

  void Count(long n) {
    bytes += n;
    if (kbps_ > 0) Sleep(n / kbps_);
  }

  Stream& from_;
  int to_;
  int kbps_;
  int pipe_[2] = {-1, -1};
};

std::map<std::string, std::string> Query(const std::string& target) {
  std::map<std::string, std::string> out;
  std::size_t at = target.find('?');
  while (at != std::string::npos) {
    const std::size_t end = target.find('&', at + 1);
    const std::string pair = target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) out[pair.substr(0, equals)] = pair.substr(equals + 1);
    at = end;
  }
  return out;
}

void SetFaults(const std::string& target) {
  Faults set;
  const auto query = Query(target);
  const std::map<std::string, int*> numbers = {
      {"delay_ms", &set.delay_ms}, {"fail", &set.fail},   {"status", &set.status},
      {"truncate", &set.truncate}, {"reset", &set.reset}, {"flip", &set.flip},
      {"stall", &set.stall},       {"kbps", &set.kbps},   {"retry_after", &set.retry_after}};
  for (const auto& [name, value] : query) {
    const auto number = numbers.find(name);
    if (number != numbers.end()) *number->second = std::atoi(value.c_str());
  }
  if (query.count("method") != 0) set.method = query.at("method");
  if (query.count("contains") != 0) set.contains = query.at("contains");
  const std::lock_guard lock(faults_mutex);
  faults = set;
  requests = gets = bytes = 0;
}

Fault Choose(const std::string& method, const std::string& target, Faults& seen) {
  const std::lock_guard lock(faults_mutex);
  seen = faults;
  const bool matches = (faults.method == "*" || faults.method == method) &&
                       target.find(faults.contains) != std::string::npos;
  if (!matches) return Fault::kNone;
  const std::pair<int*, Fault> counters[] = {{&faults.fail, Fault::kFail},
                                             {&faults.truncate, Fault::kTruncate},
                                             {&faults.reset, Fault::kReset},
                                             {&faults.flip, Fault::kFlip},
                                             {&faults.stall, Fault::kStall}};
  for (const auto& [counter, fault] : counters) {
    if (*counter <= 0) continue;
    --*counter;
    return fault;
  }
  return Fault::kNone;
}

std::string Answer(int status, const std::string& fields, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " Fault\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class Connection {
 public:
  Connection(int client, const sockaddr_in& upstream) : upstream_address_(upstream) {
    client_.fd = client;
  }
  ~Connection() {
    ::close(client_.fd);
    if (upstream_.fd >= 0) ::close(upstream_.fd);
  }

  void Run() {
    while (One()) {
    }
  }

 private:
  bool One() {
    std::string head = client_.Head();
    if (head.empty()) return false;
    const std::string method = head.substr(0, head.find(' '));
    const std::size_t begin = method.size() + 1;
    const std::string target = head.substr(begin, head.find(' ', begin) - begin);
    if (target.rfind("/-faults", 0) == 0) {
      SetFaults(target);
      return SendAll(client_.fd, Answer(200, "", "ok"));
    }
    if (target.rfind("/-stats", 0) == 0) {
      return SendAll(client_.fd, Answer(200, "",
                                        "{\"requests\":" + std::to_string(requests) +
                                            ",\"get\":" + std::to_string(gets) +
                                            ",\"bytes\":" + std::to_string(bytes) + "}"));
    }
    Faults seen;
    const Fault fault = Choose(method, target, seen);
    if (!Field(head, "expect").empty()) {
      RemoveField(head, "expect");
      if (!SendAll(client_.fd, "HTTP/1.1 100 Continue\r\n\r\n")) return false;
    }
    if (seen.delay_ms > 0) Sleep(seen.delay_ms);
    const long length = std::atol(Field(head, "content-length").c_str());
    if (fault == Fault::kFail) return Refuse(seen, length);
    ++requests;
    if (method == "GET") ++gets;
    if (!Connect() || !SendAll(upstream_.fd, head)) return false;
    if (length > 0 && !Pump(client_, upstream_.fd, seen.kbps).Move(length)) return false;
    return Relay(method, fault, seen);
  }

  bool Refuse(const Faults& seen, long length) {
    char block[4096];
    for (long left = length - static_cast<long>(client_.ahead.size()); left > 0;) {
      const ssize_t n = ::recv(client_.fd, block, sizeof block, 0);
      if (n <= 0) return false;
      left -= n;
    }
    client_.ahead.clear();
    const std::string code = seen.status == 503 ? "SlowDown" : "InternalError";
    const std::string fields =
        seen.retry_after < 0 ? "" : "Retry-After: " + std::to_string(seen.retry_after) + "\r\n";
    return SendAll(client_.fd,
                   Answer(seen.status, fields,
                          "<Error><Code>" + code + "</Code><Message>a fault</Message></Error>"));
  }

  bool Relay(const std::string& method, Fault fault, const Faults& seen) {
    const std::string head = upstream_.Head();
    if (head.empty() || !SendAll(client_.fd, head)) return false;
    const int status = std::atoi(head.c_str() + 9);
    if (method == "HEAD" || status == 204 || status == 304) return true;
    const std::string field = Field(head, "content-length");
    const long length = field.empty() ? -1 : std::atol(field.c_str());
    Pump pump(upstream_, client_.fd, seen.kbps);
    switch (fault) {
      case Fault::kTruncate:
        pump.Move(length / 2);
        return false;
      case Fault::kReset: {
        pump.Move(length / 2);
        const linger now{1, 0};
        ::setsockopt(client_.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
      }
      case Fault::kStall: {
        pump.Move(length / 2);
        char nothing;
        (void)!::recv(client_.fd, &nothing, 1, 0);  // until the client gives up
        return false;
      }
      case Fault::kFlip:
        return pump.MoveFlipped(length) && length >= 0;
      case Fault::kFail:
      case Fault::kNone:
        break;
    }
    return pump.Move(length) && length >= 0;
  }

  bool Connect() {
    if (upstream_.fd >= 0) return true;
    upstream_.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(upstream_.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ::connect(upstream_.fd, reinterpret_cast<const sockaddr*>(&upstream_address_),
                     sizeof upstream_address_) == 0;
  }

  const sockaddr_in upstream_address_;
  Stream client_;
  Stream upstream_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string upstream = argc == 2 ? argv[1] : "";
  const std::size_t colon = upstream.rfind(':');
  if (colon == std::string::npos) {
    std::fprintf(stderr, "usage: fault_proxy HOST:PORT\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(upstream.c_str() + colon + 1)));
  if (::inet_pton(AF_INET, upstream.substr(0, colon).c_str(), &address.sin_addr) != 1) return 2;

  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
      ::listen(listener, 512) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    std::perror("fault_proxy");
    return 1;
  }
  std::printf("%d\n", ntohs(own.sin_port));
  std::fflush(stdout);
  while (true) {
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::thread([client, address] { Connection(client, address).Run(); }).detach();
  }
}
