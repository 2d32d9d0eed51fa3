#include "channels/checkpoint_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "channels/beneath.h"
#include "channels/checkpoint_sets.h"

namespace sabia::channels {
namespace {

// Deeper trees than this are a program's mistake, such as a loop of bind mounts.
constexpr int kDepthMax = 64;

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

FileIdentity IdentityFrom(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_size),
          info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec, info.st_ino};
}

class Scanner {
 public:
  Scanner(std::size_t limit, std::vector<std::string>* no_files)
      : limit_(limit), no_files_(no_files) {}

  Status Walk(env::UniqueFd fd, const std::string& prefix, int depth) {
    if (depth > kDepthMax) return Fail(ErrorCode::kResourceExhausted, "'{}' is too deep", prefix);
    const std::unique_ptr<DIR, DirCloser> dir(::fdopendir(fd.get()));
    if (!dir) return FailErrno(errno, "failed to read the checkpoint directory");
    const int own = fd.Release();
    while (const dirent* entry = ::readdir(dir.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      RETURN_IF_ERROR(Look(own, name, prefix, depth));
    }
    return {};
  }

  std::vector<CheckpointFile> Take() {
    std::sort(found_.begin(), found_.end(), [](const CheckpointFile& a, const CheckpointFile& b) {
      return a.identity.modified_ns != b.identity.modified_ns
                 ? a.identity.modified_ns < b.identity.modified_ns
                 : a.path < b.path;
    });
    return std::move(found_);
  }

 private:
  Status Look(int directory, const std::string& name, const std::string& prefix, int depth) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    if (S_ISDIR(info.st_mode)) {
      auto below = OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY);
      if (!below) return {};
      return Walk(std::move(*below), prefix + name + "/", depth + 1);
    }
    if (IsLeftOut(name)) return {};
    if (!S_ISREG(info.st_mode)) {
      if (no_files_ != nullptr && no_files_->size() < limit_) {
        no_files_->push_back(fmt::format("{}{} ({})", prefix, name, KindOf(info.st_mode)));
      }
      return {};
    }
    const auto file = OpenBeneath(directory, name, O_RDONLY | O_NONBLOCK);
    if (!file) return {};
    // First the lease, then the identity: a writer that came and went in between changed the time.
    const bool writer = HasWriter(file->get());
    const auto identity = IdentityOf(file->get());
    if (!identity) return {};
    if (found_.size() >= limit_) {
      return Fail(ErrorCode::kResourceExhausted, "more than {} checkpoint files", limit_);
    }
    found_.push_back({prefix + name, *identity, writer});
    return {};
  }

  const std::size_t limit_;
  std::vector<std::string>* const no_files_;  // or null
  std::vector<CheckpointFile> found_;
};

// The directory that holds `path`, and its base name.
struct Place {
  env::UniqueFd parent;
  std::string name;
};

Result<Place> PlaceOf(int directory, const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string parent = slash == path.npos ? "." : path.substr(0, slash);
  ASSIGN_OR_RETURN(env::UniqueFd fd, OpenBeneath(directory, parent, O_RDONLY | O_DIRECTORY));
  return Place{std::move(fd), slash == path.npos ? path : path.substr(slash + 1)};
}

std::string Marker(const std::string& name, std::string_view suffix) {
  return name + std::string(suffix);
}

}  // namespace

bool IsLeftOut(std::string_view name) {
  for (const std::string_view suffix : {kUploadingSuffix, kUploadedSuffix, kIgnoreSuffix}) {
    if (name.ends_with(suffix)) return true;
  }
  if (name.starts_with(kUnfinishedPrefix)) return true;
  // Only hidden names that say they are temporary: ".metadata" is a part of PyTorch's distributed
  // checkpoints.
  return name.starts_with('.') && (name.ends_with(".tmp") || name.ends_with(".swp") ||
                                   name.ends_with('~') || name.starts_with(".nfs"));
}

// A read lease is granted only while nobody has the file open for writing. Where leases do not
// exist (NFS), the answer is "no", and the caller's wait for a stable size and time is all there
// is.
bool HasWriter(int fd) {
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno == EAGAIN;
}

Result<FileIdentity> IdentityOf(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FailErrno(errno, "failed to look at a checkpoint file");
  return IdentityFrom(info);
}

Result<std::vector<CheckpointFile>> ScanCheckpoints(int directory, std::size_t limit,
                                                    std::vector<std::string>* no_files) {
  ASSIGN_OR_RETURN(env::UniqueFd own, OpenBeneath(directory, ".", O_RDONLY | O_DIRECTORY));
  Scanner scanner(limit, no_files);
  RETURN_IF_ERROR(scanner.Walk(std::move(own), "", 0));
  return scanner.Take();
}

void MarkUploading(int directory, const std::string& path) {
  const auto place = PlaceOf(directory, path);
  if (!place) return;
  (void)OpenBeneath(place->parent.get(), Marker(place->name, kUploadingSuffix), O_WRONLY | O_CREAT,
                    0644);
  ::unlinkat(place->parent.get(), Marker(place->name, kUploadedSuffix).c_str(), 0);
}

void MarkUploaded(int directory, const std::string& path) {
  const auto place = PlaceOf(directory, path);
  if (!place) return;
  ::renameat(place->parent.get(), Marker(place->name, kUploadingSuffix).c_str(),
             place->parent.get(), Marker(place->name, kUploadedSuffix).c_str());
}

void RemoveMarkers(int directory, const std::string& path) {
  const auto place = PlaceOf(directory, path);
  if (!place) return;
  for (const std::string_view suffix : {kUploadingSuffix, kUploadedSuffix}) {
    ::unlinkat(place->parent.get(), Marker(place->name, suffix).c_str(), 0);
  }
}

}  // namespace sabia::channels
