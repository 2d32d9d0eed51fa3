#include "env/posix/empty_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "env/posix/posix_files.h"

namespace sabia::env {

Result<bool> FillEmptyFile(const Path& path, std::string_view content, Durability durability) {
  const auto fd = OpenFile(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd) return false;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (static_cast<std::size_t>(info.st_size) > kEmptyFileMax) return false;
  RETURN_IF_ERROR(WriteAll(fd->get(), content));
  if (durability == Durability::kDurable && ::fsync(fd->get()) != 0)
    return FailErrno(errno, "failed to sync '{}'", path.native());
  return true;
}

}  // namespace sabia::env
