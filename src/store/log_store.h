// Log events of jobs: append-only files, one per stream, in the order of arrival.
//
// The writer of a stream is the agent of one instance (LogWriter, in the agent's process, without
// the daemon's help), or PutLogEvents; readers are the logs API and `sabia logs`. The format is
// docs/formats/log.md: frames of length, time and bytes; a torn last frame is ignored by readers
// and cut by the next writer. So logs survive kill -9 of both.
//
// Limits: an event holds at most 256 KiB (longer lines are split, as CloudWatch does); a stream at
// most kStreamBytesMax, then one last event says so and the rest is dropped, so that a program that
// logs 10 GB costs 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "env/clock.h"
#include "store/paths.h"

namespace sabia::store {

inline constexpr std::size_t kLogEventBytesMax = 256 << 10;
inline constexpr std::uint64_t kStreamBytesMax = std::uint64_t{1} << 30;

struct LogEvent {
  WallTime time;
  WallTime ingested;
  std::string message;
  std::uint64_t offset = 0;  // where its frame starts: the stable id and the page token
};

struct LogStreamInfo {
  std::string name;
  WallTime created;
  std::optional<WallTime> first_event;
  std::optional<WallTime> last_event;
  std::uint64_t stored_bytes = 0;
};

// Appends to one stream. Thread-compatible. One writer per stream at a time (the owner's instance
// lock sees to it).
class LogWriter {
 public:
  static Result<std::unique_ptr<LogWriter>> Open(const env::Path& stream_file, env::Clock& clock);
  virtual ~LogWriter() = default;
  // One line without its newline; split when too long. Buffered until Flush or 64 KiB.
  virtual Status Append(WallTime time, std::string_view line) = 0;
  virtual Status Flush() = 0;
};

// Reads all streams below <home>/logs. Thread-safe.
class LogStore {
 public:
  LogStore(Paths paths, env::Clock& clock);

  // Groups exist from CreateLogGroup or the first stream on; an existing one is kAlreadyExists.
  Status CreateGroup(std::string_view group);
  Status CreateStream(std::string_view group, std::string_view stream);
  Status Append(std::string_view group, std::string_view stream,
                const std::vector<LogEvent>& events);
  Result<std::vector<std::string>> Groups(std::string_view prefix);
  // Sorted by name; kNotFound when there is no such group.
  Result<std::vector<LogStreamInfo>> Streams(std::string_view group, std::string_view prefix);

  struct ReadQuery {
    std::string group;
    std::string stream;
    std::optional<WallTime> start;  // inclusive
    std::optional<WallTime> end;    // exclusive
    std::uint64_t from_offset = 0;  // frames at or behind it (forward) or before it (backward)
    bool backward = false;
    std::size_t limit = 10'000;  // events
    std::size_t byte_limit = 1 << 20;
  };
  struct ReadPage {
    std::vector<LogEvent> events;    // always in the order of the file
    std::uint64_t begin_offset = 0;  // of the first event, or where the read stood
    std::uint64_t end_offset = 0;    // behind the last event
  };
  Result<ReadPage> Read(const ReadQuery& query);
  Status DeleteGroup(std::string_view group);
  Status DeleteStream(std::string_view group, std::string_view stream);

 private:
  Paths paths_;
  env::Clock& clock_;
};

}  // namespace sabia::store
