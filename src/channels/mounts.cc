#include "channels/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "env/posix/posix_files.h"

namespace sabia::channels {
namespace {

Status WriteProc(const char* path, const std::string& content) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_WRONLY));
  return env::WriteAll(fd.get(), content);
}

// In the new user namespace we are uid 0, which is our own uid outside: the only mapping an
// unprivileged process may write for itself.
Status MapOurselvesToRoot(uid_t uid, gid_t gid) {
  RETURN_IF_ERROR(WriteProc("/proc/self/setgroups", "deny"));
  RETURN_IF_ERROR(WriteProc("/proc/self/uid_map", fmt::format("0 {} 1", uid)));
  return WriteProc("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

// Paths may hold ',' and ':', which mean something in mount options; descriptors have plain names.
std::string FdPath(const env::UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

}  // namespace

Status EnterMountNamespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0) {
    if (::unshare(CLONE_NEWNS) != 0) return FailErrno(errno, "failed to unshare mounts");
  } else {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return FailErrno(errno, "failed to make a user namespace");
    }
    RETURN_IF_ERROR(MapOurselvesToRoot(uid, gid));
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return FailErrno(errno, "failed to keep mounts to ourselves");
  }
  return {};
}

Status MountOverlay(const OverlayDirs& dirs) {
  ASSIGN_OR_RETURN(const env::UniqueFd lower, env::OpenFile(dirs.lower, O_PATH | O_DIRECTORY));
  ASSIGN_OR_RETURN(const env::UniqueFd upper, env::OpenFile(dirs.upper, O_PATH | O_DIRECTORY));
  ASSIGN_OR_RETURN(const env::UniqueFd work, env::OpenFile(dirs.work, O_PATH | O_DIRECTORY));
  const std::string options = fmt::format("lowerdir={},upperdir={},workdir={},volatile,userxattr",
                                          FdPath(lower), FdPath(upper), FdPath(work));
  if (::mount("sabia", dirs.target.c_str(), "overlay", MS_NODEV, options.c_str()) != 0) {
    return FailErrno(errno, "failed to mount an overlay on '{}'", dirs.target.native());
  }
  return {};
}

Status MountTmpfs(const env::Path& target) {
  if (::mount("sabia", target.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "mode=0755,size=16m") != 0) {
    return FailErrno(errno, "failed to mount a tmpfs on '{}'", target.native());
  }
  return {};
}

Status Bind(const env::Path& source, const env::Path& target) {
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return FailErrno(errno, "failed to bind '{}' to '{}'", source.native(), target.native());
  }
  return {};
}

Status Unmount(const env::Path& target) {
  if (::umount2(target.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return {};
  if (errno == EINVAL || errno == ENOENT) return {};
  return FailErrno(errno, "failed to unmount '{}'", target.native());
}

}  // namespace sabia::channels
