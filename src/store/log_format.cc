#include "store/log_format.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace sabia::store {
namespace {

static_assert(std::endian::native == std::endian::little, "integers are written as they lie");

constexpr std::size_t kFragmentHead = 7;
constexpr std::size_t kRecordHead = 17;
enum : unsigned char { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
T Take(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

std::uint32_t Checksum(std::string_view type_and_data) {
  return static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(type_and_data.data()),
                                            static_cast<uInt>(type_and_data.size())));
}

void PutFragment(std::string& out, unsigned char type, std::string_view data) {
  std::string body(1, static_cast<char>(type));
  body += data;
  Put(out, Checksum(body));
  Put(out, static_cast<std::uint16_t>(data.size()));
  out += body;
}

std::optional<LogRecord> ParseRecord(std::string_view bytes) {
  if (bytes.size() < kRecordHead || bytes[0] < 1 || bytes[0] > 3) return std::nullopt;
  LogRecord record;
  record.kind = static_cast<LogRecordKind>(bytes[0]);
  record.time = FromUnixMillis(Take<std::int64_t>(bytes.data() + 1));
  record.ingested = FromUnixMillis(Take<std::int64_t>(bytes.data() + 9));
  record.text = bytes.substr(kRecordHead);
  return record;
}

}  // namespace

void EncodeLogRecord(const LogRecord& record, std::uint64_t position, std::string& out) {
  std::string bytes(1, static_cast<char>(record.kind));
  Put(bytes, ToUnixMillis(record.time));
  Put(bytes, ToUnixMillis(record.ingested));
  bytes += record.text;
  std::string_view rest = bytes;
  bool first = true;
  do {
    std::size_t room = kLogBlock - position % kLogBlock;
    if (room < kFragmentHead) {
      out.append(room, '\0');
      position += room;
      room = kLogBlock;
    }
    const std::string_view data = rest.substr(0, room - kFragmentHead);
    rest.remove_prefix(data.size());
    const bool last = rest.empty();
    PutFragment(out, first ? (last ? kWhole : kFirst) : (last ? kLast : kMiddle), data);
    position += kFragmentHead + data.size();
    first = false;
  } while (!rest.empty());
}

Result<LogScanner> LogScanner::Open(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FailErrno(errno, "failed to look at a log stream");
  return LogScanner(fd, static_cast<std::uint64_t>(info.st_size));
}

void LogScanner::Seek(std::uint64_t position) {
  from_ = position;
  at_ = position - position % kLogBlock;
}

Status LogScanner::LoadBlock(std::uint64_t block) {
  if (block_ == block) return {};
  block_ = UINT64_MAX;
  const std::uint64_t begin = block * kLogBlock;
  buffer_.resize(static_cast<std::size_t>(std::min(kLogBlock, size_ - begin)));
  std::size_t used = 0;
  while (used < buffer_.size()) {
    const ssize_t n = ::pread(fd_, buffer_.data() + used, buffer_.size() - used,
                              static_cast<off_t>(begin + used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a log stream");
    if (n == 0) break;  // a writer cut a torn end meanwhile
    used += static_cast<std::size_t>(n);
  }
  if (used < buffer_.size()) size_ = begin + used;
  buffer_.resize(used);
  block_ = block;
  return {};
}

void LogScanner::SkipBlock() { at_ = (at_ / kLogBlock + 1) * kLogBlock; }

// The next fragment, or nothing at the end of the file. A damaged one ends its block.
Result<std::optional<LogScanner::Fragment>> LogScanner::NextFragment() {
  while (at_ < size_) {
    RETURN_IF_ERROR(LoadBlock(at_ / kLogBlock));
    const std::size_t offset = at_ % kLogBlock;
    const std::string_view rest =
        std::string_view(buffer_).substr(std::min(offset, buffer_.size()));
    if (kLogBlock - offset < kFragmentHead) {
      SkipBlock();
      continue;
    }
    if (rest.size() < kFragmentHead) return std::nullopt;
    const std::size_t length = Take<std::uint16_t>(rest.data() + 4);
    if (rest.size() < kFragmentHead + length && buffer_.size() < kLogBlock) return std::nullopt;
    const auto type = static_cast<unsigned char>(rest[6]);
    if (rest.size() < kFragmentHead + length || type < kWhole || type > kLast ||
        Take<std::uint32_t>(rest.data()) != Checksum(rest.substr(6, length + 1))) {
      SkipBlock();
      continue;
    }
    Fragment fragment{type, rest.substr(kFragmentHead, length), at_, at_ + kFragmentHead + length};
    at_ = fragment.end;
    return fragment;
  }
  return std::nullopt;
}

Result<std::optional<LogScanner::Found>> LogScanner::Next() {
  std::uint64_t begin = 0;
  bool open = false;  // a first fragment was seen, its last is still to come
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Fragment> fragment, NextFragment());
    if (!fragment) return std::nullopt;
    if (fragment->type == kFirst || fragment->type == kWhole) {
      joined_.clear();
      begin = fragment->begin;
      open = true;
    }
    if (!open) continue;
    if (fragment->type != kWhole) joined_ += fragment->data;
    if (fragment->type == kFirst || fragment->type == kMiddle) continue;
    open = false;
    if (begin < from_) continue;
    const std::string_view bytes = fragment->type == kWhole ? fragment->data : joined_;
    if (std::optional<LogRecord> record = ParseRecord(bytes)) {
      return Found{*record, begin, fragment->end};
    }
  }
}

}  // namespace sabia::store
