#include "channels/fifo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sabia::channels {
namespace {

constexpr int kTriesMax = 3;  // against a program that makes files of the same name meanwhile

Result<env::UniqueFd> OpenInode(int directory, const std::string& name) {
  env::UniqueFd inode(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!inode) return FailErrno(errno, "failed to open the FIFO '{}'", name);
  struct stat info {};
  if (::fstat(inode.get(), &info) != 0 || !S_ISFIFO(info.st_mode)) {
    return Fail(ErrorCode::kConflict, "'{}' is no FIFO any more", name);
  }
  return inode;
}

// Through the descriptor's link: opens the inode itself, whatever its name means by now.
int OpenAgain(const env::UniqueFd& inode, int flags) {
  const std::string path = fmt::format("/proc/self/fd/{}", inode.get());
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

Result<Fifo> Fifo::Make(int directory, std::string name) {
  for (int i = 0; i < kTriesMax; ++i) {
    if (::mkfifoat(directory, name.c_str(), 0644) == 0) {
      ASSIGN_OR_RETURN(env::UniqueFd inode, OpenInode(directory, name));
      return Fifo(std::move(name), std::move(inode));
    }
    if (errno != EEXIST) return FailErrno(errno, "failed to make the FIFO '{}'", name);
    if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
      return Fail(ErrorCode::kConflict, "a directory is in the place of the FIFO '{}'", name);
    }
  }
  return Fail(ErrorCode::kConflict, "something is put in the place of the FIFO '{}'", name);
}

Result<env::UniqueFd> Fifo::AwaitReader() {
  env::UniqueFd writer(OpenAgain(inode_, O_WRONLY));
  if (!writer) return FailErrno(errno, "failed to open the FIFO '{}'", name_);
  return writer;
}

void Fifo::Release() { reader_.Reset(OpenAgain(inode_, O_RDONLY | O_NONBLOCK)); }

void Fifo::Remove(int directory) {
  struct stat ours {};
  struct stat named {};
  const bool same = ::fstat(inode_.get(), &ours) == 0 &&
                    ::fstatat(directory, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
  if (same) ::unlinkat(directory, name_.c_str(), 0);
}

}  // namespace sabia::channels
