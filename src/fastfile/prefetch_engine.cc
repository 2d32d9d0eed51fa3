#include "fastfile/prefetch_engine.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"

namespace sabia::fastfile {
namespace {

constexpr std::uint64_t kRoomLeast = 1 << 20;
// Arriving bytes are told to readers in steps of this.
constexpr std::uint64_t kTellStep = 64 << 10;
// A request that nobody wants any more is finished when only so much is missing: breaking it off
// costs a connection.
constexpr std::uint64_t kWorthFinishing = 1 << 20;
constexpr Millis kAwayPause{100};
constexpr int kTriesMax = 3;  // of content that is wrong
// Files that nobody has opened yet take at most this share of the memory.
constexpr std::uint64_t kAheadShare = 4;
constexpr std::uint32_t kFilesAheadMax = 256;

}  // namespace

struct PrefetchEngine::Handle {
  Handle(std::uint32_t number, std::uint64_t size, const PatternLimits& limits)
      : file(number), pattern(size, limits) {}

  const std::uint32_t file;
  ReadPattern pattern;
  bool read = false;  // anything, so far
};

PrefetchEngine::PrefetchEngine(const FileTree& tree, channels::MakeClient make_client,
                               env::Clock& clock, const EngineOptions& options)
    : tree_(tree),
      clock_(clock),
      options_(options),
      blocks_(options.memory / 4),
      channels_(tree.channels()),
      pool_(std::move(make_client), options.connections) {
  if (tree_.files() == 0) return;
  // What comes of it is for the reads to find out.
  const auto greet = [first = tree_.LocationOf(0)](const Result<wire::S3Client*>& client) {
    if (client) (void)(*client)->Head(first);
  };
  for (std::size_t i = 0; i < std::min(options_.warm, options_.connections); ++i)
    pool_.Submit(greet, false);
}

PrefetchEngine::~PrefetchEngine() { (void)Stop(); }

PrefetchEngine::Handle* PrefetchEngine::Open(std::uint32_t file) {
  auto handle = std::make_unique<Handle>(file, tree_.SizeOf(file), options_.pattern);
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Object> object = ObjectOf(file);
  object->readers.push_back(&handle->pattern);
  for (const auto& [begin, part] : object->parts) {
    if (std::exchange(part->ahead, false)) used_ahead_ -= part->held();
  }
  ++ChannelOf(file).stats.opened;
  return handle.release();
}

void PrefetchEngine::Close(Handle* handle) {
  const std::unique_ptr<Handle> owned(handle);
  const std::lock_guard lock(mutex_);
  if (handle->read && !IsSmall(handle->file)) --readers_;
  const auto found = objects_.find(handle->file);
  if (found == objects_.end()) return;
  const std::shared_ptr<Object> object = found->second;
  std::erase(object->readers, &handle->pattern);
  if (object->readers.empty()) Forget(*object, WholeOf(handle->file));
  DropIfUnused(*object);
}

void PrefetchEngine::Read(Handle* handle, Range range, const void* token, Done done) {
  const std::uint32_t file = handle->file;
  range.end = std::min(range.end, tree_.SizeOf(file));
  if (range.begin >= range.end) return done(0, {});
  auto read = std::make_unique<PendingRead>(PendingRead{range, token, std::move(done)});
  ReadyList ready;
  {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Object> object = ObjectOf(file);
    if (stopped_ || object->failed) {
      ready.push_back({std::move(read), EIO, {}, {}});
    } else {
      ChannelStats& stats = ChannelOf(file).stats;
      ++stats.reads;
      std::uint64_t gap = 0;
      Part* missing = object->FirstMissing(range, gap);
      const bool waits = missing != nullptr || gap < range.end;
      if (!waits) {
        ++stats.hits;
        ready.push_back(Finish(std::move(read), *object));
      }
      Want(*handle, range, std::move(read));
    }
  }
  Answer(std::move(ready));
}

void PrefetchEngine::Interrupt(const void* token) {
  ReadyList ready;
  {
    const std::lock_guard lock(mutex_);
    const auto found = parked_.find(token);
    if (found == parked_.end()) return;
    const auto [part, file] = found->second;
    const auto at = std::find_if(
        part->waiting.begin(), part->waiting.end(),
        [&](const std::unique_ptr<PendingRead>& each) { return each->token == token; });
    ready.push_back({std::move(*at), EINTR, {}, {}});
    part->waiting.erase(at);
    parked_.erase(found);
    Unpark(file);
  }
  Answer(std::move(ready));
}

void PrefetchEngine::Cancel() {
  ReadyList ready;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    cancelled_.notify_all();
    for (auto& [token, where] : parked_) {
      for (std::unique_ptr<PendingRead>& read : where.first->waiting)
        ready.push_back({std::move(read), EIO, {}, {}});
      where.first->waiting.clear();
      Unpark(where.second);
    }
    parked_.clear();
  }
  Answer(std::move(ready));
}

bool PrefetchEngine::Stop(std::optional<Millis> patience) {
  Cancel();
  if (!pool_.Stop(patience)) return false;
  const std::lock_guard lock(mutex_);
  for (const auto& [file, object] : objects_) object->parts.clear();
  used_ = 0;
  return true;
}

std::optional<PrefetchEngine::Failure> PrefetchEngine::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

ChannelStats PrefetchEngine::stats(std::size_t channel) const {
  const std::lock_guard lock(mutex_);
  const Channel& known = channels_[channel];
  ChannelStats out = known.stats;
  if (known.waiting > 0) out.starved += clock_.Mono() - known.since;
  return out;
}

std::uint64_t PrefetchEngine::memory_used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::shared_ptr<Object> PrefetchEngine::ObjectOf(std::uint32_t file) {
  std::shared_ptr<Object>& object = objects_[file];
  if (!object) object = std::make_shared<Object>(file);
  return object;
}

// What is asked for now, and what will be. `waits`: the read, when its bytes are not there.
void PrefetchEngine::Want(Handle& handle, Range range, std::unique_ptr<PendingRead> waits) {
  const std::shared_ptr<Object> object = ObjectOf(handle.file);
  const bool first = !handle.read;
  handle.read = true;
  if (IsSmall(handle.file)) {
    if (waits) Await(object, WholeOf(handle.file), std::move(waits));
    if (first) FetchFollowing(handle);
    return;
  }
  if (first) ++readers_;
  const ReadPattern::Advice advice =
      handle.pattern.Observe(range, waits != nullptr, RoomOfReader());
  for (const Range& unwanted : advice.forget) Forget(*object, unwanted);
  if (waits) Await(object, InPieces(range, handle.file), std::move(waits));
  for (const Range& ahead : advice.fetch) {
    if (Cover(object, ahead, false)) continue;
    handle.pattern.Lost({ahead.begin, tree_.SizeOf(handle.file)});
    break;
  }
}

// What is to be kept is fetched in whole pieces.
Range PrefetchEngine::InPieces(Range range, std::uint32_t file) const {
  if (options_.cache == nullptr) return range;
  const std::uint64_t end = (range.end + kBlockSize - 1) / kBlockSize * kBlockSize;
  return {range.begin / kBlockSize * kBlockSize, std::min(end, tree_.SizeOf(file))};
}

void PrefetchEngine::FetchFollowing(Handle& handle) {
  const std::uint64_t most = options_.memory / kAheadShare / kBlockSize;
  const auto files =
      ChannelOf(handle.file)
          .order.Observe(handle.file,
                         static_cast<std::uint32_t>(std::min<std::uint64_t>(kFilesAheadMax, most)));
  const std::uint16_t channel = tree_.file(handle.file).channel;
  for (std::uint32_t file = files.begin; file < std::min(files.end, tree_.files()); ++file) {
    if (tree_.file(file).channel != channel) return;
    if (!IsSmall(file) || tree_.SizeOf(file) == 0 || objects_.contains(file)) continue;
    if (used_ahead_ + tree_.SizeOf(file) > options_.memory / kAheadShare) return;
    const std::shared_ptr<Object> object = ObjectOf(file);
    if (!Cover(object, WholeOf(file), false)) return DropIfUnused(*object);
  }
}

// Every byte of the range is there or on its way. False: there is no room for some of it, and
// nobody waits for it.
bool PrefetchEngine::Cover(const std::shared_ptr<Object>& object, Range range, bool urgent) {
  std::uint64_t at = range.begin;
  while (at < range.end) {
    auto next = object->parts.upper_bound(at);
    if (next != object->parts.begin()) {
      const std::shared_ptr<Part>& before = std::prev(next)->second;
      if (before->range.end > at) {
        if (urgent && before->state == Part::State::kQueued && !before->urgent) {
          before->urgent = true;
          Schedule(before);
        }
        before->urgent = before->urgent || urgent;
        at = before->range.end;
        continue;
      }
    }
    const std::uint64_t end =
        next == object->parts.end() ? range.end : std::min(range.end, next->first);
    if (!AddPart(object, {at, end}, urgent)) return false;
    at = end;
  }
  return true;
}

bool PrefetchEngine::AddPart(const std::shared_ptr<Object>& object, Range range, bool urgent) {
  auto part = std::make_shared<Part>(range, object, blocks_);
  if (!MakeRoom(part->held(), *object) && !urgent) return false;
  part->urgent = urgent;
  used_ += part->held();
  object->held += part->held();
  object->parts[range.begin] = part;
  part->ahead = object->readers.empty();
  if (part->ahead) used_ahead_ += part->held();
  Schedule(part);
  return true;
}

void PrefetchEngine::Schedule(const std::shared_ptr<Part>& part) {
  pool_.Submit([this, part](const Result<wire::S3Client*>& client) { Fetch(part, client); },
               part->urgent);
}

bool PrefetchEngine::MakeRoom(std::uint64_t bytes, const Object& object) {
  // Nothing gives way to a file that may never be opened.
  if (object.readers.empty()) return used_ + bytes <= options_.memory;
  while (used_ + bytes > options_.memory) {
    if (!EvictOne(object.held + bytes)) return false;
  }
  return true;
}

// Of the file that holds most, what lies furthest ahead. Files that nobody has opened go first.
bool PrefetchEngine::EvictOne(std::uint64_t held_least) {
  Object* most = nullptr;
  for (const auto& [file, object] : objects_) {
    if (object->held == 0) continue;
    if (!object->readers.empty() && object->held <= held_least) continue;
    const auto rank = [](const Object& each) { return std::pair(each.readers.empty(), each.held); };
    if (most == nullptr || rank(*object) > rank(*most)) most = object.get();
  }
  if (most == nullptr) return false;
  for (auto it = most->parts.rbegin(); it != most->parts.rend(); ++it) {
    Part& part = *it->second;
    if (!part.waiting.empty()) continue;
    for (ReadPattern* reader : most->readers) reader->Lost(part.range);
    Drop(part);
    DropIfUnused(*most);
    return true;
  }
  return false;
}

void PrefetchEngine::Forget(Object& object, Range range) {
  for (auto it = object.parts.lower_bound(range.begin);
       it != object.parts.end() && it->first < range.end;) {
    Part& part = *(it++)->second;
    if (part.waiting.empty() && part.range.end <= range.end) Drop(part);
  }
}

void PrefetchEngine::Drop(Part& part) {
  Object& object = *part.object;
  part.state = Part::State::kGone;
  used_ -= part.held();
  object.held -= part.held();
  if (part.ahead) used_ahead_ -= part.held();
  object.parts.erase(part.range.begin);  // may end the part
}

void PrefetchEngine::DropIfUnused(Object& object) {
  if (object.readers.empty() && object.parts.empty() && !object.failed) objects_.erase(object.file);
}

std::uint64_t PrefetchEngine::RoomOfReader() const {
  return std::max(kRoomLeast, options_.memory / 2 / std::max<std::size_t>(1, readers_));
}

void PrefetchEngine::Await(const std::shared_ptr<Object>& object, Range range,
                           std::unique_ptr<PendingRead> read) {
  Cover(object, range, true);
  std::uint64_t gap = 0;
  Part* missing = object->FirstMissing(read->range, gap);
  CHECK(missing != nullptr);
  Channel& channel = ChannelOf(object->file);
  if (channel.waiting++ == 0) channel.since = clock_.Mono();
  parked_[read->token] = {missing, object->file};
  missing->waiting.push_back(std::move(read));
}

void PrefetchEngine::Unpark(std::uint32_t file) {
  Channel& channel = ChannelOf(file);
  if (--channel.waiting == 0) channel.stats.starved += clock_.Mono() - channel.since;
}

// The part has more bytes than before, or is whole.
void PrefetchEngine::Wake(Part& part, ReadyList& ready) {
  Object& object = *part.object;
  for (std::size_t i = 0; i < part.waiting.size();) {
    std::unique_ptr<PendingRead>& read = part.waiting[i];
    if (part.filled_end() < std::min(part.range.end, read->range.end)) {
      ++i;
      continue;
    }
    std::unique_ptr<PendingRead> next = std::move(read);
    part.waiting.erase(part.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    std::uint64_t gap = 0;
    Part* missing = object.FirstMissing(next->range, gap);
    if (missing == nullptr && gap < next->range.end) {  // dropped while it waited for another part
      Cover(part.object, next->range, true);
      missing = object.FirstMissing(next->range, gap);
    }
    if (missing == nullptr) {
      parked_.erase(next->token);
      Unpark(object.file);
      ready.push_back(Finish(std::move(next), object));
    } else {
      parked_[next->token] = {missing, object.file};
      missing->waiting.push_back(std::move(next));
    }
  }
}

// Takes the bytes of a read, which are all there, and lets go of parts that were read to their end:
// the kernel has them now.
PrefetchEngine::Ready PrefetchEngine::Finish(std::unique_ptr<PendingRead> read, Object& object) {
  Ready out;
  const Range wanted = read->range;
  out.read = std::move(read);
  auto it = object.parts.upper_bound(wanted.begin);
  if (it != object.parts.begin()) --it;
  while (it != object.parts.end() && it->first < wanted.end) {
    const std::shared_ptr<Part> part = (it++)->second;
    const Range common{std::max(wanted.begin, part->range.begin),
                       std::min(wanted.end, part->range.end)};
    part->Collect(common, out.data);
    out.parts.push_back(part);
    part->served += common.size();
    if (part->state == Part::State::kDone && part->served >= part->range.size() &&
        part->waiting.empty())
      Drop(*part);
  }
  ChannelOf(object.file).stats.bytes += wanted.size();
  return out;
}

void PrefetchEngine::Answer(ReadyList ready) {
  for (const Ready& one : ready) one.read->done(one.error, one.data);
}

void PrefetchEngine::Fetch(const std::shared_ptr<Part>& part,
                           const Result<wire::S3Client*>& client) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || part->state != Part::State::kQueued) return;  // fetched by now, or not wanted
    part->state = Part::State::kFetching;
    part->memory = blocks_.Take(part->range.size());
  }
  const bool kept = ReadFromDisk(*part);
  Status got;
  for (int tries = 1; !kept; ++tries) {
    got = client ? ReadPart(*part, **client) : Status(tl::make_unexpected(client.error()));
    if (got || !client || !TryAgain(*part, got.error(), tries)) break;
  }
  // By now whoever waited has its bytes.
  if (got && !kept && options_.cache != nullptr)
    options_.cache->Keep(*part, tree_.SizeOf(part->object->file));
  ReadyList ready;
  {
    const std::lock_guard lock(mutex_);
    if (part->state == Part::State::kGone) return;
    if (got) {
      part->state = Part::State::kDone;
      Wake(*part, ready);
      if (part->served >= part->range.size() && part->waiting.empty() &&
          part->state != Part::State::kGone)
        Drop(*part);
    } else {
      Lose(part, got.error(), ready);
    }
  }
  Answer(std::move(ready));
}

bool PrefetchEngine::ReadFromDisk(Part& part) {
  const std::uint32_t file = part.object->file;
  if (options_.cache == nullptr || !options_.cache->Read(part, tree_.SizeOf(file))) return false;
  const std::lock_guard lock(mutex_);
  ChannelOf(file).stats.from_disk += part.range.size();
  part.filled = part.range.size();
  return true;
}

bool PrefetchEngine::TryAgain(Part& part, const Error& error, int tries) {
  if (stopped_) return false;
  std::unique_lock lock(mutex_);
  if (part.state == Part::State::kGone) return false;
  if (error.code == ErrorCode::kCorrupt) return tries < kTriesMax;
  // The endpoint is away for longer than the client's patience. What nobody waits for can wait.
  const bool away = error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
  if (!away || !part.urgent) return false;
  // The client has been patient already; this is for one that gives up at once.
  return !cancelled_.wait_for(lock, kAwayPause, [this] { return stopped_.load(); });
}

Status PrefetchEngine::ReadPart(Part& part, wire::S3Client& client) {
  const std::uint32_t file = part.object->file;
  const bool whole = part.range == WholeOf(file) && IsSmall(file);
  // What readers have seen stays; a whole object is shown when its checksum was right.
  std::uint64_t at = whole ? 0 : part.filled;
  std::uint64_t told = at;
  const wire::S3Range range{.from = tree_.LocationOf(file),
                            .etag = std::string(tree_.EtagOf(file)),
                            .offset = part.range.begin + at,
                            .length = part.range.size() - at,
                            .whole = whole};
  if (range.length == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    ++ChannelOf(file).stats.requests;
  }
  RETURN_IF_ERROR(client.Read(range, [&](std::string_view data) -> Status {
    if (stopped_) return sabia::Fail(ErrorCode::kTimeout, "stopped");
    part.Fill(at, data);
    at += data.size();
    if (whole || (at - told < kTellStep && at < part.range.size())) return {};
    told = at;
    return Arrived(part, at);
  }));
  return Arrived(part, at);
}

Status PrefetchEngine::Arrived(Part& part, std::uint64_t filled) {
  ReadyList ready;
  {
    const std::lock_guard lock(mutex_);
    ChannelOf(part.object->file).stats.fetched += filled - part.filled;
    part.filled = filled;
    if (part.state == Part::State::kGone) {
      if (part.range.size() - filled <= kWorthFinishing) return {};
      return sabia::Fail(ErrorCode::kTimeout, "nobody wants it any more");
    }
    if (!part.waiting.empty()) Wake(part, ready);
  }
  Answer(std::move(ready));
  return {};
}

// Nobody gets these bytes. What was only fetched ahead may be asked for again by who needs it.
void PrefetchEngine::Lose(const std::shared_ptr<Part>& part, const Error& error, ReadyList& ready) {
  Object& object = *part->object;
  const bool wanted = part->urgent && !stopped_;
  for (std::unique_ptr<PendingRead>& read : part->waiting) {
    parked_.erase(read->token);
    Unpark(object.file);
    ready.push_back({std::move(read), EIO, {}, {}});
  }
  part->waiting.clear();
  for (ReadPattern* reader : object.readers) reader->Lost(part->range);
  Drop(*part);
  if (wanted) {
    object.failed = true;
    if (!failure_) {
      failure_ = Failure{tree_.file(object.file).channel, error};
      const std::uint64_t one = 1;
      if (options_.news >= 0) (void)!::write(options_.news, &one, sizeof one);
    }
  }
  DropIfUnused(object);
}

}  // namespace sabia::fastfile
