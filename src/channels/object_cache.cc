#include "channels/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "channels/piece_map.h"
#include "wire/sha256.h"

namespace sabia::channels {
namespace {

// Left free when the disk is checked: other writers, metadata.
constexpr std::uint64_t kSlack = 64 << 20;
constexpr int kPollMs = 100;

bool Touch(const env::Path& file, std::uint64_t size) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (static_cast<std::uint64_t>(info.st_size) != size) return false;
  // Used now. Programs see the time of modification; that of access is ours.
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::utimensat(AT_FDCWD, file.c_str(), times, 0);
  return true;
}

// False: it is not there, or no more.
bool Pin(const env::Path& file, const env::Path& pin, std::uint64_t size) {
  return Touch(file, size) && (::link(file.c_str(), pin.c_str()) == 0 || errno == EEXIST);
}

struct Entry {
  env::Path path;
  std::uint64_t bytes = 0;  // on the disk
  std::int64_t used_ns = 0;
};

// Files of the directory that nothing else links to.
std::vector<Entry> Unused(const env::Path& directory) {
  std::vector<Entry> out;
  DIR* dir = ::opendir(directory.c_str());
  if (dir == nullptr) return out;
  while (const dirent* item = ::readdir(dir)) {
    struct stat info {};
    if (::fstatat(::dirfd(dir), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode) || info.st_nlink > 1) continue;
    out.push_back({directory / item->d_name, static_cast<std::uint64_t>(info.st_blocks) * 512,
                   info.st_atim.tv_sec * 1'000'000'000 + info.st_atim.tv_nsec});
  }
  ::closedir(dir);
  return out;
}

// A partial file is in use while its lock is held.
bool IsLocked(const env::Path& file) {
  const auto fd = env::OpenFile(file, O_RDONLY);
  return fd && ::flock(fd->get(), LOCK_EX | LOCK_NB) != 0;
}

// Fetches what is not there, together with other processes: each object by one of them.
class Fill {
 public:
  struct Item {
    env::Path file;
    env::Path partial;
    env::Path pin;
  };

  Fill(const FetchOptions& options, const MakeClient& make_client, const Cancelled& cancelled)
      : options_(options), make_client_(make_client), cancelled_(cancelled) {}

  void Add(const ListedObject& object, Item item) {
    jobs_.push_back({&object, item.partial});
    items_.emplace(&object, std::move(item));
  }

  Status Run() {
    const FetchHooks hooks{[this](const FetchJob& job) { return Claim(job); },
                           [this](const FetchJob& job, int fd) { return Publish(job, fd); }};
    while (!jobs_.empty()) {
      RETURN_IF_ERROR(FetchObjects(jobs_, options_, make_client_, hooks, cancelled_));
      jobs_ = std::exchange(others_, {});
      if (jobs_.empty()) return {};
      if (cancelled_ && cancelled_()) return Fail(ErrorCode::kTimeout, "cancelled");
      ::poll(nullptr, 0, kPollMs);  // other processes fetch them, or die trying
    }
    return {};
  }

 private:
  Result<bool> Claim(const FetchJob& job) {
    const Item& item = items_.at(job.object);
    ASSIGN_OR_RETURN(env::UniqueFd lock,
                     env::OpenFile(item.partial, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    const bool ours = ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && Names(item.partial, lock);
    const std::lock_guard guard(mutex_);
    if (!ours) {
      others_.push_back(job);
      return false;
    }
    if (Pin(item.file, item.pin, job.object->size)) {  // another process was faster
      ::unlink(item.partial.c_str());
      return false;
    }
    locks_[job.object] = std::move(lock);
    return true;
  }

  // Whether the path still leads to the open file: who had it before may have renamed it.
  static bool Names(const env::Path& path, const env::UniqueFd& fd) {
    struct stat open {};
    struct stat named {};
    return ::fstat(fd.get(), &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
           open.st_ino == named.st_ino;
  }

  // Synced first: power loss may not leave half a file under the final name.
  Status Publish(const FetchJob& job, int fd) {
    const std::int64_t ms = ToUnixMillis(job.object->modified);
    const timespec times[2] = {{0, UTIME_NOW}, {ms / 1000, (ms % 1000) * 1'000'000}};
    if (ms > 0) ::futimens(fd, times);
    if (::fchmod(fd, 0444) != 0 || ::fsync(fd) != 0) {
      return FailErrno(errno, "failed to sync what was downloaded");
    }
    const Item& item = items_.at(job.object);
    if (::link(item.partial.c_str(), item.pin.c_str()) != 0 && errno != EEXIST) {
      return FailErrno(errno, "failed to link what was downloaded");
    }
    if (::rename(item.partial.c_str(), item.file.c_str()) != 0) {
      return FailErrno(errno, "failed to rename what was downloaded");
    }
    const std::lock_guard guard(mutex_);
    locks_.erase(job.object);
    return {};
  }

  const FetchOptions& options_;
  const MakeClient& make_client_;
  const Cancelled& cancelled_;
  std::vector<FetchJob> jobs_;
  std::map<const ListedObject*, Item> items_;
  std::mutex mutex_;
  std::vector<FetchJob> others_;
  std::map<const ListedObject*, env::UniqueFd> locks_;
};

}  // namespace

env::Path ObjectCache::FileOf(const ListedObject& object) const {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", options_.endpoint ? options_.endpoint(object.bucket) : "",
                  object.bucket, object.key,
                  object.etag.empty() ? FormatIso8601(object.modified) : object.etag, object.size);
  return options_.directory / "objects" / wire::Hex(wire::Sha256Of(text));
}

env::Path ObjectCache::PartialOf(const ListedObject& object) const {
  return options_.directory / "partial" / FileOf(object).filename();
}

Status ObjectCache::MakeDirectories(const env::Path& pins) const {
  env::PosixFiles files;
  RETURN_IF_ERROR(files.MakeDirectories(pins));
  RETURN_IF_ERROR(files.MakeDirectories(options_.directory / "objects"));
  return files.MakeDirectories(options_.directory / "partial");
}

Status ObjectCache::CheckRoom(std::uint64_t bytes) const {
  struct statvfs disk {};
  if (::statvfs(options_.directory.c_str(), &disk) != 0) {
    return FailErrno(errno, "failed to look at the disk of '{}'", options_.directory.native());
  }
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (bytes + kSlack <= free) return {};
  return Fail(ErrorCode::kResourceExhausted,
              "{} bytes have to be downloaded, but the disk of '{}' has only {} bytes free", bytes,
              options_.directory.native(), free);
}

std::uint64_t ObjectCache::Missing(const std::vector<ListedObject>& objects) const {
  std::uint64_t bytes = 0;
  for (const ListedObject& object : objects) {
    if (object.local() || Touch(FileOf(object), object.size)) continue;
    bytes += object.size;
    struct stat partial {};
    if (::stat(PartialOf(object).c_str(), &partial) != 0) continue;
    bytes -=
        std::min<std::uint64_t>(object.size, static_cast<std::uint64_t>(partial.st_blocks) * 512);
  }
  return bytes;
}

Result<ObjectCache::Files> ObjectCache::Get(const std::vector<ListedObject>& objects,
                                            const env::Path& pins, const MakeClient& make_client,
                                            const Cancelled& cancelled) {
  RETURN_IF_ERROR(MakeDirectories(pins));
  Files out{objects, {}};
  Fill fill(options_.fetch, make_client, cancelled);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const ListedObject& object = objects[i];
    if (object.local()) continue;
    const env::Path file = FileOf(object);
    const env::Path pin = pins / file.filename();
    out.objects[i].blob = pin.native();
    if (Pin(file, pin, object.size)) {
      ++out.stats.hits;
    } else {
      fill.Add(object, {file, PartialOf(object), pin});
      ++out.stats.fetched;
      out.stats.bytes_fetched += object.size;
    }
  }
  const std::uint64_t needed = Missing(objects);
  if (!CheckRoom(needed)) EvictTo(0);
  RETURN_IF_ERROR(CheckRoom(needed));
  RETURN_IF_ERROR(fill.Run());
  return out;
}

void ObjectCache::Evict() { EvictTo(options_.limit_bytes); }

void ObjectCache::EvictTo(std::uint64_t bytes) {
  std::vector<Entry> unused = Unused(options_.directory / "objects");
  for (Entry& entry : Unused(options_.directory / "partial")) {
    if (!IsLocked(entry.path)) unused.push_back(std::move(entry));
  }
  std::uint64_t kept = 0;
  for (const Entry& entry : unused) kept += entry.bytes;
  std::sort(unused.begin(), unused.end(),
            [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
  for (const Entry& entry : unused) {
    if (kept <= bytes) return;
    if (::unlink(entry.path.c_str()) == 0) kept -= std::min(kept, entry.bytes);
  }
}

}  // namespace sabia::channels
