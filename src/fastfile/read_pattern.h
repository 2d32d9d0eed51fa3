// What the reader of a file will want next, learnt from what it asked for.
//
// A handle may have several readers at once (threads, columns of one file): each is followed by a
// cursor. A cursor that moves forward gets a window of bytes ahead of it. The window starts small
// and doubles whenever the reader had to wait although it was being followed, so that it becomes as
// long as the way to the endpoint asks for, and no longer. Jumps of one distance are a stride: the
// next records are fetched ahead. Anything else is random, and gets exactly what it asks for.
//
// Pure. Threading: thread-compatible. Units: bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sabia::fastfile {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

struct PatternLimits {
  std::uint64_t window_first = 512 << 10;
  std::uint64_t window_max = 64 << 20;
  std::uint64_t part_least = 256 << 10;
  std::uint64_t part_max = 8 << 20;
};

class ReadPattern {
 public:
  ReadPattern(std::uint64_t size, const PatternLimits& limits) : size_(size), limits_(limits) {}

  struct Advice {
    std::vector<Range> fetch;   // ahead of the reader, nearest first, each in one request
    std::vector<Range> forget;  // nobody will come for these
  };
  // waits: what is asked for is not there. room: at most so many bytes ahead of one cursor.
  Advice Observe(Range asked, bool waits, std::uint64_t room);
  // What was to be fetched ahead is not there after all.
  void Lost(Range range);

 private:
  struct Cursor {
    std::uint64_t next = 0;      // where the reader is expected
    std::uint64_t ahead = 0;     // fetched up to here
    std::uint64_t window = 0;    // 0: not followed yet
    std::uint64_t consumed = 0;  // since the window grew
    std::uint64_t used = 0;      // when, by count of asks; 0: free
  };

  Cursor* Match(Range asked);
  Cursor& Replace(Advice& advice);
  void Advance(Cursor& cursor, Range asked, bool waits);
  void FetchAhead(Cursor& cursor, std::uint64_t room, Advice& advice) const;
  bool FollowStride(Range asked, bool jumped);
  void FetchRecords(std::uint64_t room, Advice& advice);

  const std::uint64_t size_;
  const PatternLimits limits_;
  std::array<Cursor, 8> cursors_{};
  std::uint64_t asks_ = 0;

  // Records of a strided reader: where the current one began, how far it was read.
  Range record_{0, 0};
  std::uint64_t record_size_ = 0;  // of the one before
  std::int64_t stride_ = 0;
  int strides_ = 0;                 // equal ones in a row
  std::int64_t records_ahead_ = 0;  // fetched beyond the current one
};

}  // namespace sabia::fastfile
