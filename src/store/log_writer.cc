#include "store/log_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "store/log_format.h"

namespace sabia::store {
namespace {

constexpr std::size_t kBufferMax = 64 << 10;
constexpr std::string_view kHeadText = "sabia log 1";

std::string FullNotice(std::uint64_t bytes_max) {
  return fmt::format(
      "[sabia] this log stream has reached its limit of {} bytes: later lines are dropped",
      bytes_max);
}

// Where a line is cut: at most kLogEventBytesMax, but not within a character of UTF-8.
std::size_t CutAt(std::string_view line) {
  if (line.size() <= kLogEventBytesMax) return line.size();
  std::size_t at = kLogEventBytesMax;
  const auto continues = [&] { return (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
  while (at > kLogEventBytesMax - 3 && continues()) --at;
  return continues() ? kLogEventBytesMax : at;
}

Result<env::UniqueFd> OpenLocked(const env::Path& file, int flags) {
  RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(file.parent_path()));
  ASSIGN_OR_RETURN(env::UniqueFd fd, env::OpenFile(file, O_RDWR | O_CREAT | flags, 0640));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK) {
    return Fail(ErrorCode::kUnavailable, "log stream '{}' has another writer", file.native());
  }
  return FailErrno(errno, "failed to lock '{}'", file.native());
}

// The end of the last whole record, looking no further back than needed; full: that record closes
// the stream.
struct Tail {
  std::uint64_t end = 0;
  std::uint64_t size = 0;  // of the file
  bool full = false;
};

Result<Tail> FindTail(int fd) {
  ASSIGN_OR_RETURN(LogScanner scanner, LogScanner::Open(fd));
  for (std::uint64_t blocks = 1;; blocks *= 4) {
    const std::uint64_t back = std::min(scanner.size(), blocks * kLogBlock);
    scanner.Seek(scanner.size() - back);
    Tail tail{.size = scanner.size()};
    while (true) {
      ASSIGN_OR_RETURN(const auto found, scanner.Next());
      if (!found) break;
      tail.end = found->end;
      tail.full = found->record.kind == LogRecordKind::kFull;
    }
    if (tail.end > 0 || back == scanner.size()) return tail;
  }
}

}  // namespace

Result<std::unique_ptr<LogWriter>> LogWriter::Open(const env::Path& stream_file,
                                                   env::Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileLogWriter> writer,
                   FileLogWriter::Open(stream_file, clock, kStreamBytesMax));
  return std::unique_ptr<LogWriter>(std::move(writer));
}

Result<std::unique_ptr<FileLogWriter>> FileLogWriter::Open(const env::Path& file, env::Clock& clock,
                                                           std::uint64_t bytes_max) {
  ASSIGN_OR_RETURN(env::UniqueFd fd, OpenLocked(file, 0));
  std::unique_ptr<FileLogWriter> writer(new FileLogWriter(std::move(fd), clock, bytes_max));
  RETURN_IF_ERROR(writer->Recover());
  return writer;
}

Status FileLogWriter::Create(const env::Path& file, env::Clock& clock) {
  ASSIGN_OR_RETURN(env::UniqueFd fd, OpenLocked(file, O_EXCL));
  FileLogWriter writer(std::move(fd), clock, kStreamBytesMax);
  RETURN_IF_ERROR(writer.Recover());
  RETURN_IF_ERROR(writer.Sync());
  return env::SyncDirectory(file.parent_path());
}

FileLogWriter::~FileLogWriter() { (void)Flush(); }

Status FileLogWriter::Recover() {
  ASSIGN_OR_RETURN(const Tail tail, FindTail(fd_.get()));
  // A file that was cut to nothing is written out by ext4 when it is closed.
  if (tail.size > tail.end && ::ftruncate(fd_.get(), static_cast<off_t>(tail.end)) != 0) {
    return FailErrno(errno, "failed to cut the torn end of a log stream");
  }
  if (::lseek(fd_.get(), 0, SEEK_END) < 0) return FailErrno(errno, "failed to seek");
  flushed_ = tail.end;
  full_ = tail.full;
  if (flushed_ > 0) return {};
  const WallTime now = clock_.Wall();
  EncodeLogRecord({LogRecordKind::kHead, now, now, kHeadText}, 0, buffer_);
  return Flush();
}

Status FileLogWriter::Append(WallTime time, std::string_view line) {
  do {
    const std::size_t size = CutAt(line);
    RETURN_IF_ERROR(AppendPiece(time, line.substr(0, size)));
    line.remove_prefix(size);
  } while (!line.empty());
  return {};
}

Status FileLogWriter::AppendPiece(WallTime time, std::string_view piece) {
  if (full_) return {};
  // A disk that takes nothing must not turn into memory that grows: the line is lost and the caller
  // told.
  if (buffer_.size() >= kBufferMax) RETURN_IF_ERROR(Flush());
  const std::uint64_t position = flushed_ + buffer_.size();
  if (position + piece.size() >= bytes_max_) {
    full_ = true;
    const std::string notice = FullNotice(bytes_max_);
    EncodeLogRecord({LogRecordKind::kFull, time, clock_.Wall(), notice}, position, buffer_);
    return Flush();
  }
  EncodeLogRecord({LogRecordKind::kEvent, time, clock_.Wall(), piece}, position, buffer_);
  return buffer_.size() >= kBufferMax ? Flush() : Status{};
}

Status FileLogWriter::Flush() {
  if (buffer_.empty()) return {};
  const Status written = env::WriteAll(fd_.get(), buffer_);
  if (!written) {
    // A part may have been written: cut it, so that the next attempt stands where its fragments
    // were laid out for.
    if (::ftruncate(fd_.get(), static_cast<off_t>(flushed_)) == 0) {
      (void)::lseek(fd_.get(), static_cast<off_t>(flushed_), SEEK_SET);
    }
    return written;
  }
  flushed_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status FileLogWriter::Sync() {
  RETURN_IF_ERROR(Flush());
  if (::fdatasync(fd_.get()) != 0) return FailErrno(errno, "failed to sync a log stream");
  return {};
}

}  // namespace sabia::store
