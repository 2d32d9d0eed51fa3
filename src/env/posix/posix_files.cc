#include "env/posix/posix_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace sabia::env {
namespace {

// Distinct within the process, and the pid makes it distinct among processes that share a
// directory.
Path TemporaryBeside(const Path& path) {
  static std::atomic<unsigned> counter{0};
  Path out = path;
  out += fmt::format(".tmp-{}-{}", ::getpid(), counter.fetch_add(1));
  return out;
}

// Gives their owner access to the directory and all below it; links are not followed. What cannot
// be changed is left: the caller meets it again.
void OpenDirectories(const Path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
  ::chmod(path.c_str(), 0700);
  std::error_code ec;
  for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
    OpenDirectories(it->path());
  }
}

}  // namespace

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<UniqueFd> OpenFile(const Path& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FailErrno(errno, "failed to open '{}'", path.native());
  return UniqueFd(fd);
}

Status WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "failed to write");
    }
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status LockExclusively(int fd) {
  constexpr int kTries = 20;
  constexpr int kPauseMillis = 10;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return FailErrno(errno, "failed to lock");
    ::poll(nullptr, 0, kPauseMillis);
  }
  return Fail(ErrorCode::kConflict, "the lock is held");
}

bool IsLocked(const Path& file) {
  const auto fd = OpenFile(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd) return fd.error().code != ErrorCode::kNotFound;
  return ::flock(fd->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Status SyncDirectory(const Path& path) {
  ASSIGN_OR_RETURN(UniqueFd dir, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(dir.get()) != 0) return FailErrno(errno, "failed to sync '{}'", path.native());
  return {};
}

Result<std::string> PosixFiles::Read(const Path& path, std::size_t limit) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDONLY));
  std::string out;
  std::size_t used = 0;
  while (true) {
    if (out.size() - used < 4096) out.resize(std::max<std::size_t>(8192, out.size() * 2));
    const ssize_t n = ::read(fd.get(), out.data() + used, out.size() - used);
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "failed to read '{}'", path.native());
    }
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > limit) {
      return Fail(ErrorCode::kResourceExhausted, "'{}' is longer than {} bytes", path.native(),
                  limit);
    }
  }
  out.resize(used);
  return out;
}

Status PosixFiles::WriteAtomically(const Path& path, std::string_view content,
                                   WriteOptions options) {
  const Path temporary = TemporaryBeside(path);
  {
    ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, options.mode));
    Status written = WriteAll(fd.get(), content);
    if (written && options.durability == Durability::kDurable && ::fsync(fd.get()) != 0) {
      written = FailErrno(errno, "failed to sync '{}'", temporary.native());
    }
    if (!written) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return FailErrno(error, "failed to rename to '{}'", path.native());
  }
  if (options.durability == Durability::kDurable) return SyncDirectory(path.parent_path());
  return {};
}

Status PosixFiles::MakeDirectories(const Path& path) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec) return FailErrno(ec.value(), "failed to create directory '{}'", path.native());
  return {};
}

Status PosixFiles::RemoveTree(const Path& path) {
  std::error_code ec;
  std::filesystem::remove_all(path, ec);
  if (ec.value() == EACCES) {
    // A directory of ours that somebody closed, which holds root back nowhere and others here.
    OpenDirectories(path);
    std::filesystem::remove_all(path, ec);
  }
  if (ec) return FailErrno(ec.value(), "failed to remove '{}'", path.native());
  return {};
}

Result<bool> PosixFiles::Exists(const Path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return FailErrno(errno, "failed to look at '{}'", path.native());
}

Result<std::vector<std::string>> PosixFiles::List(const Path& path) {
  std::error_code ec;
  std::vector<std::string> out;
  for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
    out.push_back(it->path().filename().native());
  }
  if (ec) return FailErrno(ec.value(), "failed to list '{}'", path.native());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sabia::env
