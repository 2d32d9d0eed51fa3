#include "objects/blob_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/log.h"
#include "env/blocking.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kIdDigits = 32;
// One call of copy_file_range copies so much at most, so that a signal does not wait for terabytes.
constexpr std::size_t kCopyStep = 1U << 30;

bool IsBlobId(std::string_view name) {
  return name.size() == kIdDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status MakeDirectory(const env::Path& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return FailErrno(errno, "failed to create directory '{}'", path.native());
  }
  return {};
}

Status AppendByCopying(int from, int to) {
  std::string buffer(1U << 20, '\0');
  while (true) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a blob");
    if (n == 0) return {};
    RETURN_IF_ERROR(env::WriteAll(to, {buffer.data(), static_cast<std::size_t>(n)}));
  }
}

}  // namespace

TemporaryBlob::~TemporaryBlob() {
  if (directory_ != nullptr) directory_->RemoveTemporary(id_);
}

void TemporaryBlob::Publish() {
  const Status moved = std::exchange(directory_, nullptr)->PublishLeftOver(id_);
  // kNotFound: the object was replaced already, and the file removed with it.
  if (!moved && moved.error().code != ErrorCode::kNotFound) {
    LogError("blob {} stays among the uploads until the next start: {}", id_,
             moved.error().message);
  }
}

Result<std::unique_ptr<BlobDirectory>> BlobDirectory::Open(const store::Paths& paths,
                                                           env::Random& random) {
  std::unique_ptr<BlobDirectory> out(new BlobDirectory(paths, random));
  RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(paths.blobs_tmp()));
  RETURN_IF_ERROR(env::SyncDirectory(paths.blobs()));
  RETURN_IF_ERROR(env::SyncDirectory(paths.home()));
  ASSIGN_OR_RETURN(env::UniqueFd tmp, env::OpenFile(paths.blobs_tmp(), O_RDONLY | O_DIRECTORY));
  out->temporary_sync_ = std::make_unique<SharedSync>(std::move(tmp));
  return out;
}

Result<BlobDirectory::Created> BlobDirectory::Create() {
  std::string id = random_.Hex(kIdDigits);
  // The mode holds for later opens: this descriptor may write.
  ASSIGN_OR_RETURN(env::UniqueFd fd,
                   env::OpenFile(TemporaryPath(id), O_WRONLY | O_CREAT | O_EXCL, 0444));
  return Created{TemporaryBlob(this, std::move(id)), std::move(fd)};
}

Result<TemporaryBlob> BlobDirectory::Link(std::string_view id) {
  std::string copy = random_.Hex(kIdDigits);
  // Three looks, as in OpenBlob(): the source may be moving from tmp to its place.
  for (const env::Path& source : {PathOf(id), TemporaryPath(id), PathOf(id)}) {
    if (::link(source.c_str(), TemporaryPath(copy).c_str()) == 0) {
      return TemporaryBlob(this, std::move(copy));
    }
    if (errno == EMLINK) return CopyInstead(id);
    if (errno != ENOENT) return FailErrno(errno, "failed to link blob {}", id);
  }
  return Fail(ErrorCode::kNotFound, "blob {} is gone", id);
}

Result<TemporaryBlob> BlobDirectory::CopyInstead(std::string_view id) {
  ASSIGN_OR_RETURN(const env::UniqueFd source, OpenBlob(id));
  ASSIGN_OR_RETURN(Created created, Create());
  RETURN_IF_ERROR(AppendFile(source.get(), created.fd.get()));
  RETURN_IF_ERROR(SyncFile(created.fd.get()));
  return std::move(created.blob);
}

Result<env::UniqueFd> BlobDirectory::OpenBlob(std::string_view id) const {
  for (const env::Path& path : {PathOf(id), TemporaryPath(id), PathOf(id)}) {
    auto fd = env::OpenFile(path, O_RDONLY);
    if (fd || fd.error().code != ErrorCode::kNotFound) return fd;
  }
  return Fail(ErrorCode::kNotFound, "blob {} is gone", id);
}

Result<std::vector<std::string>> BlobDirectory::ListTemporary() const {
  ASSIGN_OR_RETURN(std::vector<std::string> names, env::PosixFiles().List(paths_.blobs_tmp()));
  std::erase_if(names, [](const std::string& name) { return !IsBlobId(name); });
  return names;
}

Status BlobDirectory::PublishLeftOver(std::string_view id) {
  const env::Path from = TemporaryPath(id);
  const env::Path to = PathOf(id);
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno == ENOENT) {
    // The first blob of its directory; or the source is gone, and the second attempt says so.
    RETURN_IF_ERROR(MakeDirectory(to.parent_path()));
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
  }
  return FailErrno(errno, "failed to move blob {} to its place", id);
}

void BlobDirectory::RemoveTemporary(std::string_view id) {
  if (::unlink(TemporaryPath(id).c_str()) != 0 && errno != ENOENT) {
    LogWarn("failed to remove the unfinished blob {}: errno {}", id, errno);
  }
}

Status BlobDirectory::Remove(const std::vector<std::string>& ids) {
  std::set<env::Path> touched;
  for (const std::string& id : ids) {
    // A blob that could not be moved when it was published is still in tmp.
    for (const env::Path& path : {PathOf(id), TemporaryPath(id), PathOf(id)}) {
      if (::unlink(path.c_str()) == 0) {
        touched.insert(path.parent_path());
      } else if (errno != ENOENT) {
        return FailErrno(errno, "failed to remove blob {}", id);
      }
    }
  }
  for (const env::Path& directory : touched) RETURN_IF_ERROR(env::SyncDirectory(directory));
  return {};
}

Status AppendFile(int from, int to) {
  while (true) {
    const ssize_t n = ::copy_file_range(from, nullptr, to, nullptr, kCopyStep, 0);
    if (n == 0) return {};
    if (n > 0) continue;
    switch (errno) {
      case EINTR:
        continue;
      case EXDEV:
      case EINVAL:
      case ENOSYS:
      case EOPNOTSUPP:
        return AppendByCopying(from, to);  // from where the offsets stand now
      default:
        return FailErrno(errno, "failed to copy a blob");
    }
  }
}

Status SyncFile(int fd) {
  const env::BlockingScope blocking;
  if (::fsync(fd) != 0) return FailErrno(errno, "failed to sync a blob");
  return {};
}

}  // namespace sabia::objects
