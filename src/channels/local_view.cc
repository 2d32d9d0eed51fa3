#include "channels/local_view.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "env/posix/posix_files.h"

namespace sabia::channels {
namespace {

// Errors of copy_file_range and FICLONE that mean "not for these two files", as opposed to a broken
// disk.
bool MeansNotHere(int error) {
  return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
         error == ENOTTY || error == EPERM || error == EBADF;
}

Status CopyByHand(int from, int to) {
  std::vector<char> buffer(256 << 10);
  while (true) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read");
    if (n == 0) return {};
    RETURN_IF_ERROR(env::WriteAll(to, {buffer.data(), static_cast<std::size_t>(n)}));
  }
}

Status CopyContent(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) return {};
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  bool moved = false;
  while (true) {
    const ssize_t n = ::copy_file_range(from, nullptr, to, nullptr, kChunk, 0);
    if (n > 0) {
      moved = true;
      continue;
    }
    if (n == 0 && moved) return {};
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (moved || !MeansNotHere(errno))) return FailErrno(errno, "failed to copy");
    return CopyByHand(from,
                      to);  // also for files that say 0 bytes but have some (procfs and the like)
  }
}

// True when linked; false when this file system pair needs a copy.
Result<bool> TryLink(const ListedObject& object, const env::Path& target) {
  if (::link(object.blob.c_str(), target.c_str()) == 0) return true;
  if (errno == EXDEV || errno == EMLINK || errno == EPERM || errno == EOPNOTSUPP) return false;
  return FailErrno(errno, "failed to link '{}'", object.path);
}

}  // namespace

Status CopyFile(const env::Path& source, const env::Path& target) {
  ASSIGN_OR_RETURN(const env::UniqueFd from, env::OpenFile(source, O_RDONLY));
  ASSIGN_OR_RETURN(const env::UniqueFd to,
                   env::OpenFile(target, O_WRONLY | O_CREAT | O_EXCL, 0644));
  Status copied = CopyContent(from.get(), to.get());
  if (!copied) return Wrap(std::move(copied).error(), fmt::format("'{}'", source.native()));
  return {};
}

Status MakeParents(const env::Path& root, const std::string& path) {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const env::Path directory = root / path.substr(0, slash);
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
      return FailErrno(errno, "failed to create directory '{}'", directory.native());
    }
  }
  return {};
}

Result<ViewStats> BuildView(std::span<const ListedObject> objects, const env::Path& root,
                            LinkMode mode, const Cancelled& cancelled) {
  ViewStats stats;
  std::string last_parent;
  for (const ListedObject& object : objects) {
    if (!object.local()) continue;
    if (cancelled && cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    const auto slash = object.path.rfind('/');
    if (slash != object.path.npos && object.path.substr(0, slash) != last_parent) {
      RETURN_IF_ERROR(MakeParents(root, object.path));
      last_parent = object.path.substr(0, slash);
    }
    bool linked = false;
    if (mode == LinkMode::kHardLink) {
      ASSIGN_OR_RETURN(linked, TryLink(object, root / object.path));
    }
    if (!linked) {
      RETURN_IF_ERROR(CopyFile(object.blob, root / object.path));
      ++stats.copied;
    }
    ++stats.files;
    stats.bytes += object.size;
  }
  return stats;
}

}  // namespace sabia::channels
