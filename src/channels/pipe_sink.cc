#include "channels/pipe_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace sabia::channels {
namespace {

constexpr std::size_t kCopyBytes = 256 << 10;

}  // namespace

PipeSink::PipeSink(env::UniqueFd fifo, int stop, PipeMeter::Epoch& meter, env::Clock& clock)
    : fifo_(std::move(fifo)), stop_(stop), meter_(meter), clock_(clock) {
  ::fcntl(fifo_.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  ::fcntl(fifo_.get(), F_SETPIPE_SZ, kPipeBytes);  // a smaller pipe is slower, and as good
}

Flow PipeSink::Write(std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fifo_.get(), data.data(), data.size());
    if (n > 0) {
      meter_.AddBytes(static_cast<std::uint64_t>(n));
      data.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (const Flow flow = AwaitRoom(); flow != Flow::kOpen) return flow;
    } else if (errno != EINTR) {
      return Flow::kReaderGone;
    }
  }
  return Flow::kOpen;
}

Result<Flow> PipeSink::Move(const ObjectStream::FilePart& file) {
  auto offset = static_cast<loff_t>(file.offset);
  std::uint64_t left = file.length;
  while (left > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPipeBytes));
    const ssize_t n = Splice(file.fd, offset, step);
    if (n > 0) {
      meter_.AddBytes(static_cast<std::uint64_t>(n));
      left -= static_cast<std::uint64_t>(n);
    } else if (n == 0) {
      return Fail(ErrorCode::kIo, "its file ends early");
    } else if (errno == EAGAIN) {
      if (const Flow flow = AwaitRoom(); flow != Flow::kOpen) return flow;
    } else if (errno == EPIPE) {
      return Flow::kReaderGone;
    } else if (errno == EINVAL || errno == ENOSYS) {  // a file system without splice
      return Copy({file.fd, static_cast<std::uint64_t>(offset), left});
    } else if (errno != EINTR) {
      return FailErrno(errno, "failed to read its file");
    }
  }
  return Flow::kOpen;
}

Result<Flow> PipeSink::Copy(const ObjectStream::FilePart& file) {
  std::string buffer(kCopyBytes, '\0');
  std::uint64_t done = 0;
  while (done < file.length) {
    const auto step =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.length - done));
    const ssize_t n = ::pread(file.fd, buffer.data(), step, static_cast<off_t>(file.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read its file");
    if (n == 0) return Fail(ErrorCode::kIo, "its file ends early");
    done += static_cast<std::uint64_t>(n);
    const Flow flow = Write({buffer.data(), static_cast<std::size_t>(n)});
    if (flow != Flow::kOpen) return flow;
  }
  return Flow::kOpen;
}

ssize_t PipeSink::Splice(int file, loff_t& offset, std::size_t bytes) {
  const bool empty = Empty();
  meter_.Enter(empty ? PipeMeter::State::kStarved : PipeMeter::State::kMoving, clock_.Mono());
  const ssize_t n =
      ::splice(file, &offset, fifo_.get(), nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  const int problem = errno;
  // Only what came in now is there: what was there before ran out while the disk was waited for.
  if (n > 0 && !empty && Waiting() <= static_cast<std::uint64_t>(n)) {
    meter_.RanEmpty(clock_.Mono());
  } else {
    meter_.Enter(PipeMeter::State::kMoving, clock_.Mono());
  }
  errno = problem;
  return n;
}

PipeSink::Fetching::Fetching(PipeSink& sink) : sink_(sink), empty_(sink.Empty()) {
  sink_.meter_.Enter(empty_ ? PipeMeter::State::kStarved : PipeMeter::State::kMoving,
                     sink_.clock_.Mono());
}

PipeSink::Fetching::~Fetching() {
  if (!empty_ && sink_.Empty()) {
    sink_.meter_.RanEmpty(sink_.clock_.Mono());
  } else {
    sink_.meter_.Enter(PipeMeter::State::kMoving, sink_.clock_.Mono());
  }
}

std::uint64_t PipeSink::Waiting() const {
  int bytes = 0;
  return ::ioctl(fifo_.get(), FIONREAD, &bytes) == 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

Flow PipeSink::Look() const {
  pollfd items[] = {{fifo_.get(), 0, 0}, {stop_, POLLIN, 0}};
  ::poll(items, 2, 0);
  if (items[1].revents != 0) return Flow::kStopped;
  return (items[0].revents & (POLLERR | POLLHUP)) != 0 ? Flow::kReaderGone : Flow::kOpen;
}

Flow PipeSink::Hold() {
  while (true) {
    pollfd items[] = {{fifo_.get(), 0, 0}, {stop_, POLLIN, 0}};
    ::poll(items, 2, -1);
    if (items[1].revents != 0) return Flow::kStopped;
    if (items[0].revents != 0) return Flow::kReaderGone;
  }
}

Flow PipeSink::AwaitRoom() {
  meter_.Enter(PipeMeter::State::kBlocked, clock_.Mono());
  Flow flow = Flow::kOpen;
  while (true) {
    pollfd items[] = {{fifo_.get(), POLLOUT, 0}, {stop_, POLLIN, 0}};
    ::poll(items, 2, -1);
    if (items[1].revents != 0) flow = Flow::kStopped;
    if (items[1].revents != 0) break;
    if ((items[0].revents & (POLLERR | POLLHUP)) != 0) flow = Flow::kReaderGone;
    if (items[0].revents != 0) break;
  }
  meter_.Enter(PipeMeter::State::kMoving, clock_.Mono());
  return flow;
}

}  // namespace sabia::channels
