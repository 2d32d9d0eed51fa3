#include "store/log_reader.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include "store/log_format.h"

namespace sabia::store {
namespace {

constexpr std::uint64_t kScanMax = 64 << 20;
// CloudWatch counts this much per event beside the message.
constexpr std::size_t kEventOverhead = 26;

std::optional<LogEvent> EventOf(const LogScanner::Found& found, const LogStore::ReadQuery& query) {
  const LogRecord& record = found.record;
  if (record.kind == LogRecordKind::kHead) return std::nullopt;
  if (query.start && record.time < *query.start) return std::nullopt;
  if (query.end && record.time >= *query.end) return std::nullopt;
  return LogEvent{record.time, record.ingested, std::string(record.text), found.begin};
}

// What still fits on the page. The first event always does.
class Budget {
 public:
  explicit Budget(const LogStore::ReadQuery& query)
      : events_(query.limit), bytes_(query.byte_limit) {}
  bool Take(const LogEvent& event) {
    const std::size_t cost = event.message.size() + kEventOverhead;
    if (events_ == 0 || (!first_ && cost > bytes_)) return false;
    first_ = false;
    --events_;
    bytes_ -= std::min(cost, bytes_);
    return true;
  }
  bool spent() const { return events_ == 0; }

 private:
  std::size_t events_;
  std::size_t bytes_;
  bool first_ = true;
};

}  // namespace

Result<LogStore::ReadPage> ReadLogForward(int fd, const LogStore::ReadQuery& query) {
  LogStore::ReadPage page{.begin_offset = query.from_offset, .end_offset = query.from_offset};
  ASSIGN_OR_RETURN(LogScanner scanner, LogScanner::Open(fd));
  if (query.from_offset >= scanner.size()) return page;
  scanner.Seek(query.from_offset);
  Budget budget(query);
  while (!budget.spent() && page.end_offset - query.from_offset < kScanMax) {
    ASSIGN_OR_RETURN(const auto found, scanner.Next());
    if (!found) break;
    if (std::optional<LogEvent> event = EventOf(*found, query)) {
      if (!budget.Take(*event)) break;
      if (page.events.empty()) page.begin_offset = found->begin;
      page.events.push_back(std::move(*event));
    }
    page.end_offset = found->end;
  }
  return page;
}

Result<LogStore::ReadPage> ReadLogBackward(int fd, const LogStore::ReadQuery& query) {
  ASSIGN_OR_RETURN(LogScanner scanner, LogScanner::Open(fd));
  const std::uint64_t from = std::min(query.from_offset, scanner.size());
  std::uint64_t begin = from;
  std::uint64_t end = 0;
  std::deque<LogEvent> events;
  Budget budget(query);
  bool full = budget.spent();
  // Block by block towards the head of the file; within a block records can only be read forward.
  while (begin > 0 && !full && from - begin < kScanMax) {
    const std::uint64_t block = (begin - 1) / kLogBlock * kLogBlock;
    std::vector<LogEvent> here;
    scanner.Seek(block);
    while (true) {
      ASSIGN_OR_RETURN(const auto found, scanner.Next());
      if (!found || found->begin >= begin) break;
      end = std::max(end, found->end);
      if (std::optional<LogEvent> event = EventOf(*found, query)) here.push_back(std::move(*event));
    }
    for (auto event = here.rbegin(); event != here.rend(); ++event) {
      full = full || !budget.Take(*event);
      if (full) break;
      begin = event->offset;
      events.push_front(std::move(*event));
    }
    full = full || budget.spent();
    if (!full) begin = block;  // all of it was taken or turned down
  }
  return LogStore::ReadPage{
      {std::make_move_iterator(events.begin()), std::make_move_iterator(events.end())}, begin, end};
}

Result<LogStreamInfo> ReadLogInfo(int fd) {
  LogStreamInfo info;
  ASSIGN_OR_RETURN(LogScanner scanner, LogScanner::Open(fd));
  info.stored_bytes = scanner.size();
  scanner.Seek(0);
  while (!info.first_event) {
    ASSIGN_OR_RETURN(const auto found, scanner.Next());
    if (!found) return info;
    if (found->record.kind == LogRecordKind::kHead) {
      info.created = found->record.time;
    } else {
      info.first_event = found->record.time;
    }
  }
  ASSIGN_OR_RETURN(const LogStore::ReadPage last,
                   ReadLogBackward(fd, {.from_offset = kLogEnd, .backward = true, .limit = 1}));
  if (!last.events.empty()) info.last_event = last.events.back().time;
  return info;
}

}  // namespace sabia::store
