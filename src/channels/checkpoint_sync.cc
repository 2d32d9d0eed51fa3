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
#include "channels/checkpoint_order.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kKeyMax = 1024;  // of S3
constexpr Millis kRetryAfter{1'000};   // while the endpoint is away
constexpr std::int64_t kNanosPerMilli = 1'000'000;
// A file that is never still for an interval goes up after so many looks anyway, when nobody is
// writing to it.
constexpr int kRestlessLooks = 5;

bool IsAway(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout;
}

WallTime WrittenAt(const FileIdentity& version) {
  return FromUnixMillis(version.modified_ns / kNanosPerMilli);
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
    : options_(std::move(options)),
      make_client_(std::move(make_client)),
      clock_(clock),
      unfinished_(options_.prefix, options_.host) {
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
  ASSIGN_OR_RETURN(const std::set<std::string> unfinished, unfinished_.Read(*client_, objects));
  std::vector<ListedObject> wanted;
  std::uint64_t left_out = 0;
  for (const wire::S3Object& object : objects) {
    const std::string path = object.key.substr(options_.prefix.key.size());
    if (unfinished.contains(path)) {
      ++left_out;
      // What this host left behind goes with the first deletions: it is not here.
      if (unfinished_.paths().contains(path)) known_[path].uploaded = FileIdentity();
      continue;
    }
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
  out.left_out = left_out;
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
  stats_.files = known_.size();
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
  frozen_ = clock_.Wall();
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
  const Files work = LookForWork(files);
  RETURN_IF_ERROR(BeginSets(work));
  Status sent = UploadAll(work, cancelled);
  if (sent || !IsAway(sent.error().code)) {
    const Status finished = FinishSets(files, clock_.Wall());
    if (sent) sent = finished;
  }
  RETURN_IF_ERROR(sent);
  const std::vector<std::string> vanished = Vanished(files);
  if (vanished.empty() && Superseded(files).empty()) return {};
  // A program that replaces one checkpoint by the next deletes the old one while the new one still
  // waits to be still: S3 must hold one of them at any moment. A look may miss what is created
  // while it goes on; one that begins after the old one was gone does not.
  ASSIGN_OR_RETURN(const Files again, ScanCheckpoints(directory_.get(), options_.files_max));
  if (!MayDelete(again)) return {};
  const std::vector<std::string> gone = Replaced(Without(vanished, again), again);
  RETURN_IF_ERROR(DeleteAll(Settled(gone, again, clock_.Wall()), cancelled));
  if (HasUnfinished(again)) return {};
  return Retire(Superseded(again), cancelled);
}

CheckpointSync::Files CheckpointSync::LookForWork(const Files& files) {
  Files work;
  const std::lock_guard lock(mutex_);
  if (halted_) return work;
  stats_.pending_bytes = 0;
  for (const CheckpointFile& file : files) {
    Known& known = known_[file.path];
    known.missed_at.reset();
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

bool CheckpointSync::HasUnfinished(const Files& files) const {
  return std::any_of(files.begin(), files.end(), [this](const CheckpointFile& file) {
    return unfinished_.paths().contains(file.path);
  });
}

bool CheckpointSync::MayDelete(const Files& files) {
  const std::lock_guard lock(mutex_);
  return !halted_ && std::all_of(files.begin(), files.end(), [this](const CheckpointFile& file) {
    const auto known = known_.find(file.path);
    return file.being_written || (known != known_.end() && known->second.uploaded == file.identity);
  });
}

Status CheckpointSync::BeginSets(const Files& work) {
  if (work.empty()) return {};
  {
    const std::lock_guard lock(mutex_);
    for (const CheckpointFile& file : work) {
      if (!SetOf(file.path).empty() && !known_[file.path].uploaded) unfinished_.Add(file.path);
    }
  }
  RETURN_IF_ERROR(EnsureClient());
  return unfinished_.Write(*client_);
}

std::set<std::string, std::less<>> CheckpointSync::PendingSets(const Files& files) const {
  std::set<std::string, std::less<>> out;
  const std::lock_guard lock(mutex_);
  for (const CheckpointFile& file : files) {
    const auto known = known_.find(file.path);
    const bool there = known != known_.end() && known->second.uploaded == file.identity;
    if (!there || file.being_written) out.emplace(SetOf(file.path));
  }
  return out;
}

Status CheckpointSync::FinishSets(const Files& files, std::optional<WallTime> when) {
  if (unfinished_.paths().empty()) return {};
  auto waiting = PendingSets(files);
  const std::set<std::string_view> succeeded = Succeeded(files);
  for (const CheckpointFile& file : files) {
    const std::string_view set = SetOf(file.path);
    const bool restless = when && *when - WrittenAt(file.identity) < options_.set_rest;
    if (restless && !succeeded.contains(set)) waiting.emplace(set);
  }
  std::optional<WallTime> written;
  const std::set<std::string> paths = unfinished_.paths();
  for (const CheckpointFile& file : files) {
    if (!paths.contains(file.path) || waiting.contains(SetOf(file.path))) continue;
    unfinished_.Remove(file.path);
    written = std::max(written.value_or(WallTime::min()), WrittenAt(file.identity));
  }
  RETURN_IF_ERROR(EnsureClient());
  RETURN_IF_ERROR(unfinished_.Write(*client_));
  const std::lock_guard lock(mutex_);
  if (written) stats_.written_at = std::max(stats_.written_at.value_or(*written), *written);
  return {};
}

Status CheckpointSync::UploadBySets(const Files& work, const Files& files,
                                    const Cancelled& cancelled) {
  RETURN_IF_ERROR(BeginSets(work));
  Status first;
  for (std::size_t begin = 0, end = 0; begin < work.size(); begin = end) {
    while (end < work.size() && SetOf(work[end].path) == SetOf(work[begin].path)) ++end;
    Status sent = UploadAll(Files(work.begin() + static_cast<std::ptrdiff_t>(begin),
                                  work.begin() + static_cast<std::ptrdiff_t>(end)),
                            cancelled);
    // Whole sets become visible one by one: time may run out before the next.
    if (sent) sent = FinishSets(files, resting_since_);
    if (!sent && first) first = std::move(sent);
    if (cancelled() || (!first && IsAway(first.error().code))) return first;
  }
  return first ? FinishSets(files, resting_since_) : first;
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
  if (!known.uploaded || known.retired) ++stats_.files;
  known.uploaded = sent_version;
  known.retired = false;
  known.looks_pending = 0;
  stats_.pending_bytes -= std::min(stats_.pending_bytes, file.identity.size);
  stats_.synced_at = clock_.Wall();
  if (unfinished_.paths().contains(file.path)) return {};
  const WallTime written = WrittenAt(sent_version);
  stats_.written_at = std::max(stats_.written_at.value_or(written), written);
  return {};
}

std::vector<std::string> CheckpointSync::Vanished(const Files& present) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> known;
  for (const auto& [path, unused] : known_) known.push_back(path);
  std::vector<std::string> vanished = Without(known, present);
  for (const std::string& path : vanished) {
    std::optional<WallTime>& missed = known_[path].missed_at;
    if (!missed) missed = clock_.Wall();
  }
  return vanished;
}

std::vector<std::string> CheckpointSync::Replaced(const std::vector<std::string>& vanished,
                                                  const Files& present) const {
  if (!HasUnfinished(present)) return vanished;
  std::set<std::string> visible;
  for (const CheckpointFile& file : present) {
    if (!unfinished_.paths().contains(file.path)) visible.insert(SeriesOf(file.path));
  }
  visible.erase("");
  std::vector<std::string> out;
  std::copy_if(vanished.begin(), vanished.end(), std::back_inserter(out),
               [&](const std::string& path) { return visible.contains(SeriesOf(path)); });
  return out;
}

std::vector<std::string> CheckpointSync::Settled(const std::vector<std::string>& vanished,
                                                 const Files& present,
                                                 std::optional<WallTime> when) const {
  std::set<std::string_view> left;
  for (const CheckpointFile& file : present) left.insert(SetOf(file.path));
  std::set<std::string, std::less<>> restless;
  const std::lock_guard lock(mutex_);
  for (const std::string& path : vanished) {
    const std::string_view set = SetOf(path);
    if (set.empty() || !left.contains(set) || !when) continue;
    const auto known = known_.find(path);
    const bool lately = known == known_.end() || !known->second.missed_at ||
                        *when - *known->second.missed_at < options_.set_rest;
    if (lately) restless.emplace(set);
  }
  std::vector<std::string> out;
  std::copy_if(vanished.begin(), vanished.end(), std::back_inserter(out),
               [&](const std::string& path) { return !restless.contains(SetOf(path)); });
  return out;
}

Status CheckpointSync::DeleteAll(const std::vector<std::string>& vanished,
                                 const Cancelled& cancelled) {
  if (vanished.empty()) return {};
  RETURN_IF_ERROR(Hide(vanished));
  for (const std::string& path : vanished) {
    if (cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    bool uploaded = false;
    {
      const std::lock_guard lock(mutex_);
      const Known& known = known_[path];
      uploaded = known.uploaded.has_value() && !known.retired;
    }
    if (uploaded) {
      RETURN_IF_ERROR(client_->Delete({options_.prefix.bucket, KeyOf(path)}));
    }
    unfinished_.Remove(path);
    RemoveMarkers(directory_.get(), path);
    const std::lock_guard lock(mutex_);
    known_.erase(path);
    if (!uploaded) continue;
    --stats_.files;
    stats_.synced_at = clock_.Wall();
  }
  return unfinished_.Write(*client_);
}

Status CheckpointSync::Hide(const std::vector<std::string>& paths) {
  RETURN_IF_ERROR(EnsureClient());
  for (const std::string& path : paths) {
    if (!SetOf(path).empty()) unfinished_.Add(path);
  }
  return unfinished_.Write(*client_);
}

std::vector<std::string> CheckpointSync::Superseded(const Files& files) const {
  std::vector<std::string> out;
  if (options_.keep == 0) return out;
  const std::set<std::string_view> old = BeyondNewest(files, options_.keep);
  const std::lock_guard lock(mutex_);
  for (const CheckpointFile& file : files) {
    const auto known = known_.find(file.path);
    if (known == known_.end() || known->second.retired) continue;
    if (old.contains(CheckpointOf(file.path))) out.push_back(file.path);
  }
  return out;
}

Status CheckpointSync::Retire(const std::vector<std::string>& superseded,
                              const Cancelled& cancelled) {
  if (superseded.empty()) return {};
  RETURN_IF_ERROR(Hide(superseded));
  for (const std::string& path : superseded) {
    if (cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    RETURN_IF_ERROR(client_->Delete({options_.prefix.bucket, KeyOf(path)}));
    unfinished_.Remove(path);
    RemoveMarkers(directory_.get(), path);
    const std::lock_guard lock(mutex_);
    known_[path].retired = true;
    --stats_.files;
    stats_.synced_at = clock_.Wall();
  }
  return unfinished_.Write(*client_);
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
  return ByUrgency(work);
}

Status CheckpointSync::Flush(Trust trust, const Cancelled& cancelled) {
  Halt();
  if (thread_.joinable()) thread_.join();
  std::vector<std::string> no_files;
  ASSIGN_OR_RETURN(const Files files,
                   ScanCheckpoints(directory_.get(), options_.files_max, &no_files));
  if (trust == Trust::kOnlyStable) resting_since_ = frozen_.value_or(clock_.Wall());
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
    Status done = UploadBySets(left, files, cancelled);
    // After a kill in the middle of a file, S3 keeps what the program had deleted before: it may be
    // all there is.
    if (done && left_behind == 0) {
      done = DeleteAll(Settled(Replaced(Vanished(files), files), files, resting_since_), cancelled);
      if (done && !HasUnfinished(files)) done = Retire(Superseded(files), cancelled);
    }
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
