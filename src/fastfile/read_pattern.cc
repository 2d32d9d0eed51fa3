#include "fastfile/read_pattern.h"

#include <algorithm>

namespace sabia::fastfile {
namespace {

// Requests of one reader overtake each other on their way through the kernel, by this much.
constexpr std::uint64_t kBehind = 1 << 20;
// A reader that leaves out less than this goes on where it was.
constexpr std::uint64_t kSkip = 64 << 10;
constexpr int kStridesSure = 2;
constexpr std::int64_t kRecordsAheadMax = 16;

}  // namespace

ReadPattern::Advice ReadPattern::Observe(Range asked, bool waits, std::uint64_t room) {
  ++asks_;
  Advice advice;
  Cursor* cursor = Match(asked);
  if (FollowStride(asked, cursor == nullptr)) {
    if (cursor == nullptr) cursor = &Replace(advice);
    *cursor = {asked.end, asked.end, 0, 0, asks_};
    FetchRecords(room, advice);
    return advice;
  }
  if (cursor == nullptr) {
    cursor = &Replace(advice);
    // Who begins at the beginning will probably go on.
    *cursor = {asked.end, asked.end, asked.begin == 0 ? limits_.window_first : 0, 0, asks_};
  } else {
    Advance(*cursor, asked, waits);
  }
  FetchAhead(*cursor, room, advice);
  return advice;
}

void ReadPattern::Lost(Range range) {
  for (Cursor& cursor : cursors_) {
    if (cursor.next < range.end && cursor.ahead > range.begin)
      cursor.ahead = std::max(cursor.next, range.begin);
  }
  records_ahead_ = 0;
}

ReadPattern::Cursor* ReadPattern::Match(Range asked) {
  Cursor* best = nullptr;
  for (Cursor& cursor : cursors_) {
    if (cursor.used == 0) continue;
    const bool followed = cursor.window > 0;
    const std::uint64_t least = cursor.next - std::min(cursor.next, followed ? kBehind : 0);
    const std::uint64_t most = std::max(cursor.next + kSkip, followed ? cursor.ahead : 0);
    if (asked.begin < least || asked.begin > most) continue;
    if (best == nullptr || cursor.next > best->next) best = &cursor;
  }
  return best;
}

// The one that was not seen for the longest time.
ReadPattern::Cursor& ReadPattern::Replace(Advice& advice) {
  Cursor& oldest =
      *std::min_element(cursors_.begin(), cursors_.end(),
                        [](const Cursor& a, const Cursor& b) { return a.used < b.used; });
  if (oldest.used != 0 && oldest.ahead > oldest.next)
    advice.forget.push_back({oldest.next, oldest.ahead});
  return oldest;
}

void ReadPattern::Advance(Cursor& cursor, Range asked, bool waits) {
  cursor.used = asks_;
  if (asked.end <= cursor.next) return;
  cursor.consumed += asked.end - cursor.next;
  cursor.next = asked.end;
  cursor.ahead = std::max(cursor.ahead, asked.end);
  if (cursor.window == 0) {
    cursor.window = limits_.window_first;
  } else if (waits && cursor.consumed >= cursor.window / 2) {
    cursor.window = std::min(cursor.window * 2, limits_.window_max);
    cursor.consumed = 0;
  }
}

void ReadPattern::FetchAhead(Cursor& cursor, std::uint64_t room, Advice& advice) const {
  const std::uint64_t window = std::min(cursor.window, room);
  const std::uint64_t part = std::clamp(window / 4, limits_.part_least, limits_.part_max);
  const std::uint64_t target = std::min(cursor.next + window, size_);
  while (cursor.ahead < target) {
    // Ends lie on multiples of the part; a rest that is not worth a request of its own goes along.
    std::uint64_t end = (cursor.ahead / part + 1) * part;
    if (end - cursor.ahead < part / 2) end += part;
    if (size_ - std::min(end, size_) < part / 4) end = size_;
    if (end > target && end < size_) return;  // later, as a whole
    advice.fetch.push_back({cursor.ahead, end});
    cursor.ahead = end;
  }
}

// True while the reader takes records at equal distances.
bool ReadPattern::FollowStride(Range asked, bool jumped) {
  const bool goes_on = asked.begin >= record_.begin && asked.begin <= record_.end + kSkip;
  if (!jumped || (goes_on && asks_ > 1)) {
    if (goes_on) record_.end = std::max(record_.end, asked.end);
    // Past the length of a record it is no stride any more.
    if (strides_ >= kStridesSure && record_.size() > record_size_ + kSkip) strides_ = 0;
    return goes_on && strides_ >= kStridesSure;
  }
  const std::int64_t stride =
      static_cast<std::int64_t>(asked.begin) - static_cast<std::int64_t>(record_.begin);
  const bool same = asks_ > 1 && stride == stride_;
  strides_ = same ? strides_ + 1 : 0;
  records_ahead_ = same ? std::max<std::int64_t>(0, records_ahead_ - 1) : 0;
  stride_ = stride;
  record_size_ = record_.size();
  record_ = asked;
  return strides_ >= kStridesSure;
}

void ReadPattern::FetchRecords(std::uint64_t room, Advice& advice) {
  if (record_.size() < record_size_) {
    const Range rest{record_.end, std::min(record_.begin + record_size_, size_)};
    if (rest.begin < rest.end) advice.fetch.push_back(rest);
  }
  const std::int64_t wanted = std::min<std::int64_t>(
      {kRecordsAheadMax, std::int64_t{1} << std::min(strides_, 8),
       static_cast<std::int64_t>(room / std::max<std::uint64_t>(1, record_size_))});
  for (; records_ahead_ < wanted; ++records_ahead_) {
    const std::int64_t begin =
        static_cast<std::int64_t>(record_.begin) + (records_ahead_ + 1) * stride_;
    if (begin < 0 || static_cast<std::uint64_t>(begin) >= size_) return;
    const auto from = static_cast<std::uint64_t>(begin);
    advice.fetch.push_back({from, std::min(from + record_size_, size_)});
  }
}

}  // namespace sabia::fastfile
