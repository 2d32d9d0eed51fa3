// Reads of files answered from an S3 endpoint, ahead of the readers, in bounded memory.
//
// Promise: every byte of a file is of the version that the tree names (If-Match); small objects are
// compared with their checksum as well. When an object is another one by now, gone or refused, its
// reads fail with EIO for good and failure() tells which one it was. An endpoint that is away is
// waited for, until Stop.
//
// Memory: `memory` bytes for all files together. What readers wait for is always fetched; what is
// fetched ahead takes what is left, and from the file that holds most when nothing is.
//
// Threading: thread-safe. Done is called once for every Read, on the caller's thread or one of the
// engine's, without locks; its data is valid during the call. Errors: errno values.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <optional>
#include <unordered_map>

#include "env/clock.h"
#include "fastfile/disk_cache.h"
#include "fastfile/fetch_pool.h"
#include "fastfile/file_tree.h"
#include "fastfile/order_pattern.h"
#include "fastfile/part.h"

namespace sabia::fastfile {

struct EngineOptions {
  std::uint64_t memory = 256 << 20;
  std::size_t connections = 32;
  std::size_t warm =
      0;  // so many of them are opened at once: the first reads need not wait for one
  std::uint64_t whole_max = 1 << 20;  // objects up to this size come in one request
  PatternLimits pattern;
  int news = -1;               // eventfd, written when failure() has something to say
  DiskCache* cache = nullptr;  // outlives the engine; may be absent
};

// What happened in a channel so far.
struct ChannelStats {
  std::uint64_t opened = 0;  // files
  std::uint64_t reads = 0;
  std::uint64_t hits = 0;   // reads whose bytes were there
  std::uint64_t bytes = 0;  // given to readers
  std::uint64_t requests = 0;
  std::uint64_t fetched = 0;            // bytes from the endpoint
  std::uint64_t from_disk = 0;          // bytes from the disk cache
  std::chrono::nanoseconds starved{0};  // at least one reader waited
};

class PrefetchEngine {
 public:
  struct Failure {
    std::size_t channel = 0;
    Error error;
  };
  struct Handle;
  using Done = std::function<void(int error, std::span<const iovec> data)>;

  PrefetchEngine(const FileTree& tree, channels::MakeClient make_client, env::Clock& clock,
                 const EngineOptions& options);
  ~PrefetchEngine();

  Handle* Open(std::uint32_t file);
  void Close(Handle* handle);
  // Bytes beyond the end are left out. token: for Interrupt; unique while the read lasts.
  void Read(Handle* handle, Range range, const void* token, Done done);
  // The read ends with EINTR, if it still waits.
  void Interrupt(const void* token);

  // Whoever waits gets EIO, and so does every later read. Does not block.
  void Cancel();
  // The same, and waits until nothing is under way, which takes at most as long as a call to the
  // endpoint. False: not within `patience`; the engine must not be destroyed then.
  bool Stop(std::optional<Millis> patience = std::nullopt);

  std::optional<Failure> failure() const;
  ChannelStats stats(std::size_t channel) const;
  std::uint64_t memory_used() const;

 private:
  struct Channel {
    ChannelStats stats;
    OrderPattern order;
    std::size_t waiting = 0;
    MonoTime since;  // waiting > 0
  };
  struct Ready {
    std::unique_ptr<PendingRead> read;
    int error = 0;
    std::vector<iovec> data;
    std::vector<std::shared_ptr<Part>> parts;  // keep the data
  };
  using ReadyList = std::vector<Ready>;

  Channel& ChannelOf(std::uint32_t file) { return channels_[tree_.file(file).channel]; }
  Range WholeOf(std::uint32_t file) const { return {0, tree_.SizeOf(file)}; }
  bool IsSmall(std::uint32_t file) const { return tree_.SizeOf(file) <= options_.whole_max; }

  // With mutex_ held.
  std::shared_ptr<Object> ObjectOf(std::uint32_t file);
  void Want(Handle& handle, Range range, std::unique_ptr<PendingRead> waits);
  Range InPieces(Range range, std::uint32_t file) const;
  void FetchFollowing(Handle& handle);
  bool Cover(const std::shared_ptr<Object>& object, Range range, bool urgent);
  bool AddPart(const std::shared_ptr<Object>& object, Range range, bool urgent);
  void Schedule(const std::shared_ptr<Part>& part);
  bool MakeRoom(std::uint64_t bytes, const Object& object);
  bool EvictOne(std::uint64_t held_least);
  void Forget(Object& object, Range range);
  void Drop(Part& part);
  void DropIfUnused(Object& object);
  std::uint64_t RoomOfReader() const;
  void Await(const std::shared_ptr<Object>& object, Range range, std::unique_ptr<PendingRead> read);
  void Wake(Part& part, ReadyList& ready);
  Ready Finish(std::unique_ptr<PendingRead> read, Object& object);
  void Unpark(std::uint32_t file);
  void Lose(const std::shared_ptr<Part>& part, const Error& error, ReadyList& ready);

  // Without.
  static void Answer(ReadyList ready);
  void Fetch(const std::shared_ptr<Part>& part, const Result<wire::S3Client*>& client);
  bool ReadFromDisk(Part& part);
  Status ReadPart(Part& part, wire::S3Client& client);
  Status Arrived(Part& part, std::uint64_t filled);
  bool TryAgain(Part& part, const Error& error, int tries);

  const FileTree& tree_;
  env::Clock& clock_;
  const EngineOptions options_;
  BlockPool blocks_;
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::condition_variable cancelled_;
  std::vector<Channel> channels_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Object>> objects_;
  std::unordered_map<const void*, std::pair<Part*, std::uint32_t>> parked_;
  std::uint64_t used_ = 0;
  std::uint64_t used_ahead_ = 0;  // of it by files that nobody has opened yet
  std::size_t readers_ = 0;       // open handles of large files that were read
  std::optional<Failure> failure_;
  FetchPool pool_;
};

}  // namespace sabia::fastfile
