#include "wire/transport.h"

#include <errno.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>

#include "env/blocking.h"

namespace sabia::wire {
namespace {

// sendfile moves at most so much per call, so that a stop request is seen in time.
constexpr std::uint64_t kSendFileStep = 16 << 20;

IoResult FromErrno(IoStatus would_block) {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {would_block, 0};
  return {IoStatus::kFailed, 0};
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(env::UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const override { return socket_.get(); }
  bool tls() const override { return false; }
  bool HasBuffered() const override { return false; }
  IoResult Handshake() override { return {}; }

  IoResult Read(std::span<char> out) override {
    for (;;) {
      const ssize_t n = ::recv(fd(), out.data(), out.size(), 0);
      if (n > 0) return {IoStatus::kDone, static_cast<std::size_t>(n)};
      if (n == 0) return {IoStatus::kEnd, 0};
      if (errno != EINTR) return FromErrno(IoStatus::kWantRead);
    }
  }

  IoResult Write(std::string_view first, std::string_view second) override {
    iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = first.empty() ? parts + 1 : parts;
    message.msg_iovlen = first.empty() || second.empty() ? 1 : 2;
    for (;;) {
      const ssize_t n = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
      if (n >= 0) return {IoStatus::kDone, static_cast<std::size_t>(n)};
      if (errno != EINTR) return FromErrno(IoStatus::kWantWrite);
    }
  }

  IoResult SendFile(const FileSpan& file) override {
    off_t offset = static_cast<off_t>(file.offset);
    for (;;) {
      const ssize_t n = ::sendfile(fd(), file.fd, &offset, std::min(file.length, kSendFileStep));
      if (n > 0) return {IoStatus::kDone, static_cast<std::size_t>(n)};
      if (n == 0) return {IoStatus::kEnd, 0};  // the file is shorter than promised
      if (errno != EINTR) return FromErrno(IoStatus::kWantWrite);
    }
  }

  void FinishWriting() override { ::shutdown(fd(), SHUT_WR); }

 private:
  env::UniqueFd socket_;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(env::UniqueFd socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

void TimedStream::Restart() {
  moved_ = 0;
  waited_ms_ = 0;
}

Status TimedStream::Wait(IoStatus status) {
  const auto allowed_ms =
      limits_.grace.count() + static_cast<std::int64_t>(moved_ * 1000 / limits_.bytes_per_second);
  const std::int64_t left_ms =
      std::min<std::int64_t>(limits_.stall.count(), allowed_ms - waited_ms_);
  if (left_ms <= 0) return Fail(ErrorCode::kTimeout, "the client is too slow");
  pollfd entry{transport_.fd(),
               static_cast<short>(status == IoStatus::kWantRead ? POLLIN : POLLOUT), 0};
  const env::BlockingScope blocking;
  const MonoTime start = clock_.Mono();
  const int ready = ::poll(&entry, 1, static_cast<int>(left_ms));
  waited_ms_ += std::chrono::duration_cast<Millis>(clock_.Mono() - start).count();
  if (ready < 0 && errno != EINTR) return FailErrno(errno, "failed to wait for the client");
  if (ready == 0) return Fail(ErrorCode::kTimeout, "the client moved no byte for {} ms", left_ms);
  return {};
}

Result<std::size_t> TimedStream::Read(std::span<char> out) {
  for (;;) {
    const IoResult step = transport_.Read(out);
    switch (step.status) {
      case IoStatus::kDone:
        moved_ += step.bytes;
        return step.bytes;
      case IoStatus::kEnd:
        return 0;
      case IoStatus::kFailed:
        return Fail(ErrorCode::kUnavailable, "the connection broke");
      case IoStatus::kWantRead:
      case IoStatus::kWantWrite:
        RETURN_IF_ERROR(Wait(step.status));
    }
  }
}

Status TimedStream::WriteAll(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    const IoResult step = transport_.Write(first, second);
    switch (step.status) {
      case IoStatus::kDone: {
        moved_ += step.bytes;
        const std::size_t of_first = std::min(step.bytes, first.size());
        first.remove_prefix(of_first);
        second.remove_prefix(step.bytes - of_first);
        break;
      }
      case IoStatus::kEnd:
      case IoStatus::kFailed:
        return Fail(ErrorCode::kUnavailable, "the connection broke");
      case IoStatus::kWantRead:
      case IoStatus::kWantWrite:
        RETURN_IF_ERROR(Wait(step.status));
    }
  }
  return {};
}

Status TimedStream::SendFile(FileSpan file) {
  while (file.length > 0) {
    const IoResult step = transport_.SendFile(file);
    switch (step.status) {
      case IoStatus::kDone:
        moved_ += step.bytes;
        file.offset += step.bytes;
        file.length -= step.bytes;
        break;
      case IoStatus::kEnd:
        return Fail(ErrorCode::kIo, "the file is shorter than was announced");
      case IoStatus::kFailed:
        return Fail(ErrorCode::kUnavailable, "the connection broke");
      case IoStatus::kWantRead:
      case IoStatus::kWantWrite:
        RETURN_IF_ERROR(Wait(step.status));
    }
  }
  return {};
}

}  // namespace sabia::wire
