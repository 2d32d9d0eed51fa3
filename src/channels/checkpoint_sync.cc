#include "channels/checkpoint_sync.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>

#include "base/encoding.h"
#include "channels/beneath.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kKeyMax = 1024;  // of S3
constexpr Millis kRetryAfter{1'000};   // while the endpoint is away
// A file that is never still for an interval goes up after so many looks anyway, when nobody is
// writing to it.
constexpr int kRestlessLooks = 5;

bool IsAway(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout;
}

// A copy of the file, checked to be of one piece: nobody had it open for writing at the start, and
// nothing changed to the end. The version that was copied must be the one that was looked at,
// unless `any_version`.
Result<FileIdentity> Snapshot(int directory, const CheckpointFile& file, const env::Path& target,
                              bool any_version) {
  ASSIGN_OR_RETURN(const env::UniqueFd from,
                   OpenBeneath(directory, file.path, O_RDONLY | O_NONBLOCK));
  const bool writer = HasWriter(from.get());
  ASSIGN_OR_RETURN(const FileIdentity before, IdentityOf(from.get()));
  if (writer || (before != file.identity && !any_version)) {
    return Fail(ErrorCode::kConflict, "'{}' changed", file.path);
  }
  ::unlink(target.c_str());
  RETURN_IF_ERROR(CopyFile(fmt::format("/proc/self/fd/{}", from.get()), target));
  ASSIGN_OR_RETURN(const FileIdentity after, IdentityOf(from.get()));
  if (after != before) return Fail(ErrorCode::kConflict, "'{}' changed", file.path);
  return after;
}

std::vector<std::string> Without(const std::vector<std::string>& paths,
                                 const std::vector<CheckpointFile>& files) {
  std::set<std::string_view> here;
  for (const CheckpointFile& file : files) here.insert(file.path);
  std::vector<std::string> out;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(out),
               [&](const std::string& path) { return !here.contains(path); });
  return out;
}

}  // namespace

CheckpointSync::CheckpointSync(CheckpointOptions options, MakeClient make_client, env::Clock& clock)
    : options_(std::move(options)), make_client_(std::move(make_client)), clock_(clock) {
  // The kernel sends SIGIO when a writer wants a file that we hold a lease on; its default effect
  // is death.
  ::signal(SIGIO, SIG_IGN);
}

CheckpointSync::~CheckpointSync() {
  Halt();
  if (thread_.joinable()) thread_.join();
}

Result<RestoreStats> CheckpointSync::Restore(const Cancelled& cancelled) {
  RETURN_IF_ERROR(EnsureClient());
  ASSIGN_OR_RETURN(const std::vector<wire::S3Object> objects,
                   client_->List(options_.prefix.bucket, options_.prefix.key));
  std::vector<ListedObject> wanted;
  for (const wire::S3Object& object : objects) {
    const std::string path = object.key.substr(options_.prefix.key.size());
    if (path.empty() || path.ends_with('/') || IsLeftOut(path.substr(path.rfind('/') + 1)))
      continue;
    if (!IsSafeRelativePath(path)) {
      return Fail(ErrorCode::kInvalidArgument, "checkpoint key '{}' is no safe path", object.key);
    }
    wanted.push_back(
        {path, object.size, "", options_.prefix.bucket, object.key, object.etag, object.modified});
  }
  RETURN_IF_ERROR(DownloadObjects(wanted, options_.directory, make_client_, cancelled));
  ASSIGN_OR_RETURN(directory_, OpenDirectory(options_.directory));
  RestoreStats out;
  for (const wire::S3Object& object : objects) {
    // Programs look for the newest checkpoint by time.
    const std::string path = object.key.substr(options_.prefix.key.size());
    const auto file =
        OpenBeneath(directory_.get(), path.empty() ? "." : path, O_RDONLY | O_NONBLOCK);
    if (!file) continue;
    const std::int64_t ms = ToUnixMillis(object.modified);
    const timespec time{ms / 1000, (ms % 1000) * 1'000'000};
    const timespec times[2] = {time, time};
    ::futimens(file->get(), times);
  }
  ASSIGN_OR_RETURN(const Files files, ScanCheckpoints(directory_.get(), options_.files_max));
  const std::lock_guard lock(mutex_);
  for (const CheckpointFile& file : files) {
    known_[file.path] = {.seen = file.identity, .stable = file.identity, .uploaded = file.identity};
    ++out.files;
    out.bytes += file.identity.size;
  }
  stats_.files = out.files;
  return out;
}

Status CheckpointSync::Start() {
  if (!directory_) {
    ASSIGN_OR_RETURN(directory_, OpenDirectory(options_.directory));
  }
  thread_ = std::thread([this] { Loop(); });
  return {};
}

void CheckpointSync::Halt() {
  const std::lock_guard lock(mutex_);
  halted_ = true;
  stopping_ = true;
  wake_.notify_all();
}

void CheckpointSync::Look() {
  const auto files = ScanCheckpoints(directory_.get(), options_.files_max);
  const std::lock_guard lock(mutex_);
  if (files) TakeAsWhole(*files);
}

void CheckpointSync::Freeze() {
  const auto files = ScanCheckpoints(directory_.get(), options_.files_max);
  const std::lock_guard lock(mutex_);
  halted_ = true;
  if (!files) return;
  frozen_ = true;
  TakeAsWhole(*files);
}

void CheckpointSync::TakeAsWhole(const Files& files) {
  for (const CheckpointFile& file : files) {
    Known& known = known_[file.path];
    known.seen = file.identity;
    known.written_to = file.being_written;
    if (!file.being_written) known.stable = file.identity;
  }
}

void CheckpointSync::Loop() {
  const Cancelled cancelled = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (true) {
    const Status passed = Pass(cancelled);
    SetProblem(passed);
    const Millis wait = passed ? options_.interval : std::max(options_.interval, kRetryAfter);
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, wait, [this] { return stopping_; })) return;
  }
}

void CheckpointSync::SetProblem(const Status& status) {
  const std::lock_guard lock(mutex_);
  stats_.problem = status ? std::string() : status.error().message;
}

Status CheckpointSync::Pass(const Cancelled& cancelled) {
  ASSIGN_OR_RETURN(const Files files, ScanCheckpoints(directory_.get(), options_.files_max));
  RETURN_IF_ERROR(UploadAll(LookForWork(files), cancelled));
  const std::vector<std::string> vanished = Vanished(files);
  if (vanished.empty()) return {};
  // A program that replaces one checkpoint by the next deletes the old one while the new one still
  // waits to be still: S3 must hold one of them at any moment. A look may miss what is created
  // while it goes on; one that begins after the old one was gone does not.
  ASSIGN_OR_RETURN(const Files again, ScanCheckpoints(directory_.get(), options_.files_max));
  return MayDelete(again) ? DeleteAll(Without(vanished, again), cancelled) : Status();
}

CheckpointSync::Files CheckpointSync::LookForWork(const Files& files) {
  Files work;
  const std::lock_guard lock(mutex_);
  if (halted_) return work;
  stats_.pending_bytes = 0;
  for (const CheckpointFile& file : files) {
    Known& known = known_[file.path];
    const bool still = known.seen == file.identity && !file.being_written && !known.written_to;
    known.seen = file.identity;
    known.written_to = file.being_written;
    if (still) known.stable = file.identity;
    if (known.uploaded == file.identity) {
      known.looks_pending = 0;
      continue;
    }
    stats_.pending_bytes += file.identity.size;
    ++known.looks_pending;
    if (still || (known.looks_pending >= kRestlessLooks && !file.being_written))
      work.push_back(file);
  }
  return work;
}

bool CheckpointSync::MayDelete(const Files& files) {
  const std::lock_guard lock(mutex_);
  return !halted_ && std::all_of(files.begin(), files.end(), [this](const CheckpointFile& file) {
    const auto known = known_.find(file.path);
    return file.being_written || (known != known_.end() && known->second.uploaded == file.identity);
  });
}

Status CheckpointSync::UploadAll(const Files& work, const Cancelled& cancelled) {
  Status first;
  for (const CheckpointFile& file : work) {
    if (cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    const Status sent = UploadOne(file);
    // A file that changed or vanished meanwhile comes again with the next look.
    if (sent || sent.error().code == ErrorCode::kConflict) continue;
    struct stat info {};
    if (::fstatat(directory_.get(), file.path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    // One bad file must not keep the others away; an endpoint that is away is away for all.
    if (first) first = Wrap(Error(sent.error()), fmt::format("checkpoint '{}'", file.path));
    if (IsAway(sent.error().code)) break;
  }
  return first;
}

Status CheckpointSync::UploadOne(const CheckpointFile& file) {
  RETURN_IF_ERROR(EnsureClient());
  const std::string key = KeyOf(file.path);
  if (key.size() > kKeyMax || !IsUtf8(key)) {
    return Fail(ErrorCode::kInvalidArgument, "its name makes no S3 key");
  }
  const env::Path snapshot = options_.snapshots / "checkpoint";
  bool restless = false;
  {
    const std::lock_guard lock(mutex_);
    restless = !halted_ && known_[file.path].looks_pending >= kRestlessLooks;
  }
  ASSIGN_OR_RETURN(const FileIdentity sent_version,
                   Snapshot(directory_.get(), file, snapshot, restless));
  MarkUploading(directory_.get(), file.path);
  Status sent = client_->Upload(snapshot, {options_.prefix.bucket, key});
  ::unlink(snapshot.c_str());
  if (!sent) {
    RemoveMarkers(directory_.get(), file.path);
    return sent;
  }
  MarkUploaded(directory_.get(), file.path);
  const std::lock_guard lock(mutex_);
  Known& known = known_[file.path];
  if (!known.uploaded) ++stats_.files;
  known.uploaded = sent_version;
  known.looks_pending = 0;
  stats_.pending_bytes -= std::min(stats_.pending_bytes, file.identity.size);
  stats_.synced_at = clock_.Wall();
  return {};
}

std::vector<std::string> CheckpointSync::Vanished(const Files& present) const {
  std::vector<std::string> known;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [path, unused] : known_) known.push_back(path);
  }
  return Without(known, present);
}

Status CheckpointSync::DeleteAll(const std::vector<std::string>& vanished,
                                 const Cancelled& cancelled) {
  for (const std::string& path : vanished) {
    if (cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    bool uploaded = false;
    {
      const std::lock_guard lock(mutex_);
      uploaded = known_[path].uploaded.has_value();
    }
    if (uploaded) {
      RETURN_IF_ERROR(EnsureClient());
      RETURN_IF_ERROR(client_->Delete({options_.prefix.bucket, KeyOf(path)}));
    }
    RemoveMarkers(directory_.get(), path);
    const std::lock_guard lock(mutex_);
    known_.erase(path);
    if (!uploaded) continue;
    --stats_.files;
    stats_.synced_at = clock_.Wall();
  }
  return {};
}

CheckpointSync::Files CheckpointSync::FinalWork(Trust trust, const Files& files) {
  Files work;
  const std::lock_guard lock(mutex_);
  for (const CheckpointFile& file : files) {
    const Known& known = known_[file.path];
    if (known.uploaded == file.identity) continue;
    const bool whole = known.stable == file.identity && !(frozen_ && known.written_to);
    if (trust == Trust::kAll || whole) {
      work.push_back(file);
    } else {
      stats_.skipped.push_back(file.path);
    }
  }
  return work;
}

Status CheckpointSync::Flush(Trust trust, const Cancelled& cancelled) {
  Halt();
  if (thread_.joinable()) thread_.join();
  std::vector<std::string> no_files;
  ASSIGN_OR_RETURN(const Files files,
                   ScanCheckpoints(directory_.get(), options_.files_max, &no_files));
  const Files work = FinalWork(trust, files);
  std::size_t left_behind = 0;
  {
    const std::lock_guard lock(mutex_);
    stats_.pending_bytes = 0;
    for (const CheckpointFile& file : work) stats_.pending_bytes += file.identity.size;
    left_behind = stats_.skipped.size();
    stats_.no_files = std::move(no_files);
  }
  while (true) {
    Files left;
    for (const CheckpointFile& file : work) {
      const std::lock_guard lock(mutex_);
      if (known_[file.path].uploaded != file.identity) left.push_back(file);
    }
    Status done = UploadAll(left, cancelled);
    // After a kill in the middle of a file, S3 keeps what the program had deleted before: it may be
    // all there is.
    if (done && left_behind == 0) done = DeleteAll(Vanished(files), cancelled);
    SetProblem(done);
    if (done || cancelled() || !IsAway(done.error().code)) return done;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kRetryAfter, [] { return false; });
  }
}

CheckpointStats CheckpointSync::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

Status CheckpointSync::EnsureClient() {
  if (client_) return {};
  ASSIGN_OR_RETURN(client_, make_client_());
  return {};
}

}  // namespace sabia::channels
