#include "fleet/posix/spare_directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>

#include "env/posix/empty_file.h"
#include "env/posix/posix_files.h"
#include "model/instance_tree.h"

namespace sabia::fleet {
namespace {

// More than small jobs run at once on most machines; each is some twenty inodes.
constexpr std::size_t kSparesMax = 64;
// How the file system keeps a directory, as opposed to what somebody asked for.
constexpr unsigned kOwnFlags =
    0x00001000 /* indexed */ | 0x00080000 /* extents */ | 0x10000000 /* inline data */;

// Empty, they count as missing; and a file that is there costs less than a new one
// (env/posix/empty_file.h).
constexpr std::array<const char*, 4> kKeptFiles = {"spec.json", "report.json", "report.next",
                                                   "agent.err"};

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::optional<std::vector<std::string>> Entries(int fd) {
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, DirectoryCloser> listing(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!listing) return std::nullopt;
  std::vector<std::string> out;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  return out;
}

unsigned FlagsOf(int fd) {
  unsigned flags = 0;
  return ::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 ? flags & ~kOwnFlags : 0;
}

// But for the label that SELinux gives to every file.
bool HasAttributes(int fd) {
  std::array<char, 256> names{};
  const ssize_t size = ::flistxattr(fd, names.data(), names.size());
  if (size == 0 || (size < 0 && errno == ENOTSUP)) return false;
  constexpr std::string_view kLabel = "security.selinux";
  return size < 0 || std::string_view(names.data(), static_cast<std::size_t>(size)) !=
                         std::string_view(kLabel.data(), kLabel.size() + 1);
}

bool IsPartOfTree(const std::string& path) {
  return std::any_of(model::kInstanceTree.begin(), model::kInstanceTree.end(),
                     [&](const model::TreeDirectory& known) { return known.path == path; });
}

class Inspection {
 public:
  explicit Inspection(int fd) : fd_(fd) {}

  bool AsNew() {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return false;
    owner_ = info.st_uid;
    flags_ = FlagsOf(fd_);
    // Parents first, so no component of a path is anything but a directory.
    return std::all_of(model::kInstanceTree.begin(), model::kInstanceTree.end(),
                       [this](const auto& known) { return IsAsNew(known); });
  }

 private:
  bool IsAsNew(const model::TreeDirectory& known) const {
    const std::string path(known.path);
    const env::UniqueFd fd(
        ::openat(fd_, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0) return false;
    if ((info.st_mode & 07777) != known.mode || info.st_uid != owner_) return false;
    if (HasAttributes(fd.get()) || FlagsOf(fd.get()) != flags_) return false;
    const auto entries = Entries(fd.get());
    return entries && std::all_of(entries->begin(), entries->end(), [&](const auto& name) {
             return IsPartOfTree(path + "/" + name);
           });
  }

  int fd_;
  uid_t owner_ = 0;
  unsigned flags_ = 0;
};

bool IsKept(std::string_view name) {
  return std::find(kKeptFiles.begin(), kKeptFiles.end(), name) != kKeptFiles.end();
}

// Whether it is an empty regular file now (env/posix/empty_file.h); what the agent said is gone to
// the last byte.
bool Empty(int directory, const char* name) {
  const off_t most = std::string_view(name) == "agent.err" ? 0 : env::kEmptyFileMax;
  const env::UniqueFd fd(
      ::openat(directory, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat info {};
  return fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
         (info.st_size <= most || ::ftruncate(fd.get(), most) == 0);
}

std::int64_t Nanos(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// What daemon and agent wrote beside the tree goes; files that every instance has serve again.
bool Strip(int directory) {
  const auto entries = Entries(directory);
  if (!entries) return false;
  // An order may have been given to an agent that never read it.
  if (std::find(entries->begin(), entries->end(), "orders.json") != entries->end()) return false;
  for (const std::string& name : *entries) {
    if (name == "root" || name == "scratch" || name == "lock" || name == "agent.poke" ||
        IsKept(name)) {
      continue;
    }
    if (::unlinkat(directory, name.c_str(), 0) != 0) return false;
  }
  return std::all_of(kKeptFiles.begin(), kKeptFiles.end(),
                     [directory](const char* name) { return Empty(directory, name); });
}

}  // namespace

bool SpareDirectories::MakePlace() {
  if (made_) return true;
  made_ = files_.RemoveTree(place_) && files_.MakeDirectories(place_);
  return made_;
}

SpareDirectories::Stamps SpareDirectories::StampsOf(int directory) {
  Stamps out;
  for (const model::TreeDirectory& known : model::kInstanceTree) {
    struct stat info {};
    const std::string path(known.path);
    if (::fstatat(directory, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    out.emplace_back(info.st_ino, Nanos(info.st_ctim));
  }
  return out;
}

bool SpareDirectories::AsNew(int directory) {
  // Some kernels count time in steps of ten milliseconds: a change within the step of the one
  // before leaves no trace. The report was written just now.
  constexpr std::int64_t kSettledNanos = 1'000'000'000;
  struct stat own {};
  struct stat report {};
  if (::fstat(directory, &own) != 0) return false;
  if (::fstatat(directory, "report.json", &report, AT_SYMLINK_NOFOLLOW) != 0) return false;
  Stamps stamps = StampsOf(directory);
  {
    const std::lock_guard lock(mutex_);
    const auto known = as_new_.find(own.st_ino);
    if (known != as_new_.end() && !stamps.empty() && known->second == stamps) return true;
    if (known != as_new_.end()) as_new_.erase(known);
  }
  if (!Inspection(directory).AsNew()) return false;
  const bool settled = std::all_of(stamps.begin(), stamps.end(), [&](const auto& stamp) {
    return stamp.second + kSettledNanos < Nanos(report.st_mtim);
  });
  const std::lock_guard lock(mutex_);
  if (settled && !stamps.empty() && as_new_.size() < 2 * kSparesMax)
    as_new_[own.st_ino] = std::move(stamps);
  return true;
}

bool SpareDirectories::Keep(const env::Path& directory) {
  const std::string name = directory.filename().native();
  {
    const std::lock_guard lock(mutex_);
    if (names_.size() >= kSparesMax || !MakePlace()) return false;
  }
  const auto fd = env::OpenFile(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto held = env::OpenFile(directory / "lock", O_RDONLY | O_NOFOLLOW);
  if (!fd || !held || ::flock(held->get(), LOCK_EX | LOCK_NB) != 0) return false;
  if (!AsNew(fd->get()) || !Strip(fd->get())) return false;
  if (::rename(directory.c_str(), (place_ / name).c_str()) != 0) return false;
  const std::lock_guard lock(mutex_);
  names_.push_back(name);
  return true;
}

bool SpareDirectories::Give(const env::Path& directory) {
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    if (names_.empty()) return false;
    name = std::move(names_.back());
    names_.pop_back();
  }
  if (::rename((place_ / name).c_str(), directory.c_str()) == 0) return true;
  if (errno == ENOENT) return false;  // somebody tidied up
  const std::lock_guard lock(mutex_);
  names_.push_back(std::move(name));
  return false;
}

}  // namespace sabia::fleet
