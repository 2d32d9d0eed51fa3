// The bytes of a log stream (docs/formats/log.md): records in blocks, and how to read them from any
// block on.
//
// Thread-compatible. A reader and a writer may work on one file at the same time, in different
// processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "env/posix/posix_files.h"

namespace sabia::store {

inline constexpr std::uint64_t kLogBlock = 32 << 10;

enum class LogRecordKind : unsigned char { kHead = 1, kEvent = 2, kFull = 3 };

struct LogRecord {
  LogRecordKind kind = LogRecordKind::kEvent;
  WallTime time;
  WallTime ingested;
  std::string_view text;
};

// Appends the record's fragments to `out`, whose first byte will stand at `position` in the file.
void EncodeLogRecord(const LogRecord& record, std::uint64_t position, std::string& out);

// Reads the records of a file up to the size that it had at construction.
class LogScanner {
 public:
  // The descriptor stays the caller's.
  static Result<LogScanner> Open(int fd);

  struct Found {
    LogRecord record;  // its text lives until the next call of Next or Seek
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // From the first record that begins at or behind the position.
  void Seek(std::uint64_t position);
  // Nothing: the end of what is whole.
  Result<std::optional<Found>> Next();

  std::uint64_t size() const { return size_; }

 private:
  struct Fragment {
    unsigned char type = 0;
    std::string_view data;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  LogScanner(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  Result<std::optional<Fragment>> NextFragment();
  Status LoadBlock(std::uint64_t block);
  void SkipBlock();

  int fd_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;              // of the next fragment
  std::uint64_t from_ = 0;            // records that begin before are skipped
  std::uint64_t block_ = UINT64_MAX;  // number of the block in buffer_
  std::string buffer_;
  std::string joined_;  // data of a record of several fragments
};

}  // namespace sabia::store
