#include "fastfile/disk_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "wire/content_check.h"

namespace sabia::fastfile {
namespace {

std::size_t SizeOfPiece(std::uint64_t index, std::uint64_t file_size) {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(kBlockSize, file_size - index * kBlockSize));
}

bool WriteAt(int fd, std::string_view data, std::uint64_t offset) {
  while (!data.empty()) {
    const ssize_t n = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool ReadAt(int fd, std::span<char> into, std::uint64_t offset) {
  while (!into.empty()) {
    const ssize_t n = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<DiskCache>> DiskCache::Open(const env::Path& directory,
                                                   std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(env::UniqueFd fd, env::OpenFile(directory, O_RDWR | O_TMPFILE, 0600));
  const auto slots =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(limit_bytes / kBlockSize, UINT32_MAX));
  return std::unique_ptr<DiskCache>(new DiskCache(std::move(fd), slots));
}

void DiskCache::Keep(const Part& part, std::uint64_t file_size) {
  std::vector<iovec> places;
  std::string joined;
  for (std::uint64_t index = (part.range.begin + kBlockSize - 1) / kBlockSize;
       index * kBlockSize < part.range.end; ++index) {
    const std::uint64_t begin = index * kBlockSize;
    const std::uint64_t end = begin + SizeOfPiece(index, file_size);
    if (end > part.range.end) return;
    places.clear();
    part.Collect({begin, end}, places);
    if (places.size() > 1) {  // the part does not begin with a piece
      joined.clear();
      for (const iovec& place : places)
        joined.append(static_cast<const char*>(place.iov_base), place.iov_len);
      places = {{joined.data(), joined.size()}};
    }
    KeepPiece(KeyOf(part.object->file, index),
              {static_cast<const char*>(places[0].iov_base), places[0].iov_len});
  }
}

void DiskCache::KeepPiece(std::uint64_t key, std::string_view data) {
  std::uint32_t slot = 0;
  {
    const std::lock_guard lock(mutex_);
    if (next_ >= slots_ || pieces_.contains(key)) return;
    slot = next_++;
  }
  const bool written = WriteAt(fd_.get(), data, std::uint64_t{slot} * kBlockSize);
  const std::uint32_t crc = wire::Crc32(0, data);
  const std::lock_guard lock(mutex_);
  if (written) {
    pieces_[key] = {slot, crc};
  } else if (next_ < slots_) {
    LogWarn("the disk cache of FastFile channels takes no more: {}", ::strerrordesc_np(errno));
    next_ = slots_;
  }
}

bool DiskCache::Read(Part& part, std::uint64_t file_size) {
  const std::uint64_t first = part.range.begin / kBlockSize;
  const std::uint64_t last = (part.range.end - 1) / kBlockSize;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t index = first; index <= last; ++index) {
      if (!pieces_.contains(KeyOf(part.object->file, index))) return false;
    }
  }
  std::vector<char> piece(kBlockSize);
  for (std::uint64_t index = first; index <= last; ++index) {
    const std::span<char> whole(piece.data(), SizeOfPiece(index, file_size));
    if (!ReadPiece(KeyOf(part.object->file, index), whole)) return false;
    const std::uint64_t begin = std::max(part.range.begin, index * kBlockSize);
    const std::uint64_t end = std::min(part.range.end, index * kBlockSize + whole.size());
    part.Fill(begin - part.range.begin, {whole.data() + begin % kBlockSize, end - begin});
  }
  return true;
}

bool DiskCache::ReadPiece(std::uint64_t key, std::span<char> into) {
  Piece piece;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return false;
    piece = found->second;
  }
  const std::uint64_t offset = std::uint64_t{piece.slot} * kBlockSize;
  const bool read = ReadAt(fd_.get(), into, offset);
  if (read && wire::Crc32(0, {into.data(), into.size()}) == piece.crc) {
    // The kernel keeps what the reader gets; once is enough.
    ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), kBlockSize, POSIX_FADV_DONTNEED);
    return true;
  }
  LogWarn("the disk cache of FastFile channels is damaged at {}: fetched again", offset);
  const std::lock_guard lock(mutex_);
  pieces_.erase(key);
  return false;
}

std::uint64_t DiskCache::bytes_used() const {
  const std::lock_guard lock(mutex_);
  return std::uint64_t{next_} * kBlockSize;
}

}  // namespace sabia::fastfile
