#include "channels/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sabia::channels {

Result<env::UniqueFd> OpenBeneath(int directory, const std::string& path, int flags,
                                  unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    fd = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd >= 0) return env::UniqueFd(static_cast<int>(fd));
  if (errno == ELOOP || errno == EXDEV) {
    return Fail(ErrorCode::kDenied, "'{}' leads through a symbolic link", path);
  }
  return FailErrno(errno, "failed to open '{}'", path);
}

Result<env::UniqueFd> OpenDirectory(const env::Path& path) {
  return env::OpenFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

std::string_view KindOf(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "file";
    case S_IFDIR:
      return "directory";
    case S_IFLNK:
      return "symbolic link";
    case S_IFIFO:
      return "FIFO";
    case S_IFSOCK:
      return "socket";
    default:
      return "device";
  }
}

bool IsRealDirectory(int directory, const std::string& path) {
  return OpenBeneath(directory, path, O_RDONLY | O_DIRECTORY).has_value();
}

Result<std::string> ReadBeneath(int directory, const std::string& path, std::size_t limit) {
  // Not to hang on a FIFO, and to learn what it is before reading.
  ASSIGN_OR_RETURN(const env::UniqueFd fd,
                   OpenBeneath(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "failed to look at '{}'", path);
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no regular file", path);
  std::string out(limit, '\0');
  std::size_t used = 0;
  while (used < limit) {
    const ssize_t n = ::read(fd.get(), out.data() + used, limit - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read '{}'", path);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
  }
  out.resize(used);
  return out;
}

}  // namespace sabia::channels
