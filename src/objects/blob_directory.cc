#include "objects/blob_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/check.h"
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

// Names relative to blobs, without allocating: these are opened for every request.
struct Name {
  char text[kIdDigits + 8];
  const char* c_str() const { return text; }
};
Name NameIn(std::string_view directory, std::string_view id) {
  CHECK(directory.size() + 1 + id.size() < sizeof(Name::text));
  Name out;
  char* end = std::copy(directory.begin(), directory.end(), out.text);
  *end++ = '/';
  *std::copy(id.begin(), id.end(), end) = '\0';
  return out;
}
Name PlaceOf(std::string_view id) { return NameIn(id.substr(0, 2), id); }
Name TemporaryOf(std::string_view id) { return NameIn("tmp", id); }

Result<env::UniqueFd> OpenAt(const env::UniqueFd& root, const Name& name, int flags,
                             unsigned mode = 0) {
  for (;;) {
    const int fd = ::openat(root.get(), name.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return env::UniqueFd(fd);
    if (errno != EINTR) return FailErrno(errno, "failed to open blob '{}'", name.c_str());
  }
}

Status AppendByCopying(int from, FileRange range, int to) {
  std::string buffer(std::min<std::uint64_t>(range.size, 1U << 20), '\0');
  while (range.size > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(range.size, buffer.size());
    const ssize_t n = ::pread(from, buffer.data(), wanted, static_cast<off_t>(range.offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a blob");
    if (n == 0) return Fail(ErrorCode::kIo, "a blob is shorter than its row says");
    RETURN_IF_ERROR(env::WriteAll(to, {buffer.data(), static_cast<std::size_t>(n)}));
    range.offset += static_cast<std::uint64_t>(n);
    range.size -= static_cast<std::uint64_t>(n);
  }
  return {};
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
  ASSIGN_OR_RETURN(out->root_, env::OpenFile(paths.blobs(), O_RDONLY | O_DIRECTORY));
  ASSIGN_OR_RETURN(env::UniqueFd tmp, env::OpenFile(paths.blobs_tmp(), O_RDONLY | O_DIRECTORY));
  out->temporary_sync_ = std::make_unique<SharedSync>(std::move(tmp));
  return out;
}

Result<BlobDirectory::Created> BlobDirectory::Create() {
  std::string id = random_.Hex(kIdDigits);
  // The mode holds for later opens: this descriptor may write.
  ASSIGN_OR_RETURN(env::UniqueFd fd,
                   OpenAt(root_, TemporaryOf(id), O_WRONLY | O_CREAT | O_EXCL, 0444));
  return Created{TemporaryBlob(this, std::move(id)), std::move(fd)};
}

Result<TemporaryBlob> BlobDirectory::CreateJoint() {
  std::string id = random_.Hex(kIdDigits);
  RETURN_IF_ERROR(OpenAt(root_, TemporaryOf(id), O_WRONLY | O_CREAT | O_EXCL, 0644));
  return TemporaryBlob(this, std::move(id));
}

Result<env::UniqueFd> BlobDirectory::OpenJoint(std::string_view id) const {
  return OpenAt(root_, TemporaryOf(id), O_WRONLY);
}

Result<bool> BlobDirectory::FreezeJoint(std::string_view id, std::uint64_t size) {
  const Name name = TemporaryOf(id);
  struct stat facts {};
  if (::fstatat(root_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    return FailErrno(errno, "failed to look at blob {}", id);
  }
  if (static_cast<std::uint64_t>(facts.st_size) != size) return false;
  if (::fchmodat(root_.get(), name.c_str(), 0444, 0) != 0) {
    return FailErrno(errno, "failed to make blob {} read-only", id);
  }
  return true;
}

void BlobDirectory::ThawJoint(std::string_view id) {
  if (::fchmodat(root_.get(), TemporaryOf(id).c_str(), 0644, 0) != 0 && errno != ENOENT) {
    LogWarn("failed to make blob {} writable again: errno {}", id, errno);
  }
}

Result<TemporaryBlob> BlobDirectory::Link(std::string_view id) {
  std::string copy = random_.Hex(kIdDigits);
  // Three looks, as in OpenBlob(): the source may be moving from tmp to its place.
  for (const Name& source : {PlaceOf(id), TemporaryOf(id), PlaceOf(id)}) {
    if (::linkat(root_.get(), source.c_str(), root_.get(), TemporaryOf(copy).c_str(), 0) == 0) {
      TemporaryBlob blob(this, copy);
      // The bytes may be those of a small object that is not synced yet.
      ASSIGN_OR_RETURN(const env::UniqueFd fd, OpenAt(root_, TemporaryOf(copy), O_RDONLY));
      RETURN_IF_ERROR(SyncFile(fd.get()));
      return blob;
    }
    if (errno == EMLINK) return CopyInstead(id);
    if (errno != ENOENT) return FailErrno(errno, "failed to link blob {}", id);
  }
  return Fail(ErrorCode::kNotFound, "blob {} is gone", id);
}

Result<TemporaryBlob> BlobDirectory::CopyInstead(std::string_view id) {
  ASSIGN_OR_RETURN(const env::UniqueFd source, OpenBlob(id));
  ASSIGN_OR_RETURN(Created created, Create());
  struct stat facts {};
  if (::fstat(source.get(), &facts) != 0) return FailErrno(errno, "failed to look at a blob");
  const FileRange whole{0, static_cast<std::uint64_t>(facts.st_size)};
  RETURN_IF_ERROR(AppendFile(source.get(), whole, created.fd.get()));
  RETURN_IF_ERROR(SyncFile(created.fd.get()));
  return std::move(created.blob);
}

Result<env::UniqueFd> BlobDirectory::OpenBlob(std::string_view id) const {
  for (const Name& name : {PlaceOf(id), TemporaryOf(id), PlaceOf(id)}) {
    auto fd = OpenAt(root_, name, O_RDONLY);
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
  const Name from = TemporaryOf(id);
  const Name to = PlaceOf(id);
  const auto move = [&] {
    return ::renameat(root_.get(), from.c_str(), root_.get(), to.c_str()) == 0;
  };
  if (move()) return {};
  if (errno == ENOENT) {
    // The first blob of its directory; or the source is gone, and the second attempt says so.
    const std::string directory(id.substr(0, 2));
    if (::mkdirat(root_.get(), directory.c_str(), 0755) != 0 && errno != EEXIST) {
      return FailErrno(errno, "failed to create directory '{}' of blobs", directory);
    }
    if (move()) return {};
  }
  return FailErrno(errno, "failed to move blob {} to its place", id);
}

void BlobDirectory::RemoveTemporary(std::string_view id) {
  if (::unlinkat(root_.get(), TemporaryOf(id).c_str(), 0) != 0 && errno != ENOENT) {
    LogWarn("failed to remove the unfinished blob {}: errno {}", id, errno);
  }
}

Status BlobDirectory::SyncAll() {
  if (!sync_failed_.load() && ::syncfs(root_.get()) == 0) return {};
  // The kernel reports a lost write once.
  if (sync_failed_.exchange(true)) return Fail(ErrorCode::kIo, "syncing the blobs has failed");
  return FailErrno(errno, "failed to sync the blobs");
}

Status BlobDirectory::Rewrite(std::string_view id, std::string_view data) {
  RemoveTemporary(id);  // never written over: other names may lead to its bytes
  ASSIGN_OR_RETURN(const env::UniqueFd fd,
                   OpenAt(root_, TemporaryOf(id), O_WRONLY | O_CREAT | O_EXCL, 0444));
  RETURN_IF_ERROR(env::WriteAll(fd.get(), data));
  return PublishLeftOver(id);
}

Status BlobDirectory::Remove(const std::vector<std::string>& ids) {
  std::set<env::Path> touched;
  for (const std::string& id : ids) {
    // A blob that could not be moved when it was published is still in tmp.
    for (const Name& name : {PlaceOf(id), TemporaryOf(id), PlaceOf(id)}) {
      if (::unlinkat(root_.get(), name.c_str(), 0) == 0) {
        touched.insert((paths_.blobs() / name.c_str()).parent_path());
      } else if (errno != ENOENT) {
        return FailErrno(errno, "failed to remove blob {}", id);
      }
    }
  }
  for (const env::Path& directory : touched) RETURN_IF_ERROR(env::SyncDirectory(directory));
  return {};
}

Status AppendFile(int from, FileRange range, int to) {
  while (range.size > 0) {
    auto offset = static_cast<off64_t>(range.offset);
    const ssize_t n = ::copy_file_range(from, &offset, to, nullptr,
                                        std::min<std::uint64_t>(range.size, kCopyStep), 0);
    if (n == 0) return Fail(ErrorCode::kIo, "a blob is shorter than its row says");
    if (n > 0) {
      range.offset += static_cast<std::uint64_t>(n);
      range.size -= static_cast<std::uint64_t>(n);
      continue;
    }
    switch (errno) {
      case EINTR:
        continue;
      case EXDEV:
      case EINVAL:
      case ENOSYS:
      case EOPNOTSUPP:
        return AppendByCopying(from, range, to);
      default:
        return FailErrno(errno, "failed to copy a blob");
    }
  }
  return {};
}

Status SyncFile(int fd) {
  const env::BlockingScope blocking;
  if (::fsync(fd) != 0) return FailErrno(errno, "failed to sync a blob");
  return {};
}

}  // namespace sabia::objects
