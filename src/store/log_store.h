// Log events of jobs: append-only files, one per stream, in the order of arrival.
//
// The writer of a stream is the agent of one instance (LogWriter, in the agent's process, without
// the daemon's help), or PutLogEvents; readers are the logs API and `sabia logs`. The format is
// docs/formats/log.md: records in blocks; a torn last record is ignored by readers and cut by the
// next writer. So logs survive kill -9 of both.
//
// Limits: an event holds at most 256 KiB (longer lines are split, as CloudWatch does); a stream at
// most kStreamBytesMax, then one last event says so and the rest is dropped, so that a program that
// logs 10 GB costs 1.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  std::uint64_t offset = 0;  // where its record begins: the stable id and the page token
};

struct LogStreamInfo {
  std::string name;
  WallTime created;
  std::optional<WallTime> first_event;
  std::optional<WallTime> last_event;
  std::uint64_t stored_bytes = 0;
};

struct LogGroupInfo {
  std::string name;
  WallTime created;                // when its directory was made
  std::uint64_t stored_bytes = 0;  // of all streams, as of a minute ago at most
};

// Appends to one stream. Thread-compatible. One writer per stream at a time: Open takes a lock on
// the file and fails with kUnavailable when somebody else holds it.
class LogWriter {
 public:
  static Result<std::unique_ptr<LogWriter>> Open(const env::Path& stream_file, env::Clock& clock);
  virtual ~LogWriter() = default;
  // One line without its newline; split when too long. Buffered until Flush or 64 KiB.
  virtual Status Append(WallTime time, std::string_view line) = 0;
  virtual Status Flush() = 0;
};

// Where a backward read begins that has no other place to begin.
inline constexpr std::uint64_t kLogEnd = UINT64_MAX;

// All streams below <home>/logs. Thread-safe. Errors: kNotFound (the message begins with "log
// group" or "log stream"), kAlreadyExists, kInvalidArgument (names that do not fit), kUnavailable
// (a job is writing that stream), kIo.
class LogStore {
 public:
  LogStore(Paths paths, env::Clock& clock);

  // Groups exist from CreateGroup or the first stream of a job on.
  Status CreateGroup(std::string_view group);
  // The group must exist.
  Status CreateStream(std::string_view group, std::string_view stream);
  // Durable when it returns.
  Status Append(std::string_view group, std::string_view stream,
                const std::vector<LogEvent>& events);
  Result<std::vector<std::string>> Groups(std::string_view prefix);
  // Looks at every file of the group, at most once a minute.
  Result<LogGroupInfo> Group(std::string_view group);

  struct StreamQuery {
    std::string group;
    std::string prefix;  // with a "/" in it only the streams of that job are looked at
    std::string after;   // names behind it only
    std::size_t limit = 10'000;
  };
  // Sorted by name.
  Result<std::vector<LogStreamInfo>> Streams(const StreamQuery& query);
  Result<LogStreamInfo> Stream(std::string_view group, std::string_view stream);

  struct ReadQuery {
    std::string group;
    std::string stream;
    std::optional<WallTime> start;  // inclusive
    std::optional<WallTime> end;    // exclusive
    // Events that begin at or behind it (forward) or before it (backward). Any number will do.
    std::uint64_t from_offset = 0;
    bool backward = false;
    std::size_t limit = 10'000;  // events
    std::size_t byte_limit = 1 << 20;
  };
  struct ReadPage {
    std::vector<LogEvent> events;    // always in the order of the file
    std::uint64_t begin_offset = 0;  // where a backward read goes on
    std::uint64_t end_offset = 0;    // where a forward read goes on
  };
  // At most 64 MiB of the file are looked at per call, so a page may be empty before the end: the
  // end is reached when the offset to go on with stays the same.
  Result<ReadPage> Read(const ReadQuery& query);
  Status DeleteGroup(std::string_view group);
  Status DeleteStream(std::string_view group, std::string_view stream);

 private:
  Result<env::Path> StreamFile(std::string_view group, std::string_view stream) const;

  struct Size {
    MonoTime known_since;
    std::uint64_t bytes = 0;
  };

  Paths paths_;
  env::Clock& clock_;
  std::mutex sizing_;
  std::map<std::string, Size, std::less<>> sizes_;  // of groups
  std::array<std::mutex, 16>
      appending_;  // by hash of the file, so that appends to one stream queue up
};

}  // namespace sabia::store
