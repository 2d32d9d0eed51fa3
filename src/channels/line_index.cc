#include "channels/line_index.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace sabia::channels {
namespace {

constexpr std::size_t kStep = 256 << 10;
constexpr std::uint64_t kTextMax = std::uint64_t{1} << 40;
constexpr unsigned kLengthBits = 24;

Result<std::size_t> ReadAt(int fd, std::uint64_t offset, char* into, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(fd, into + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a list of lines");
    if (n == 0) return Fail(ErrorCode::kIo, "a list of lines ends early");
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace

Status LineIndex::Add(std::uint64_t end) {
  if (end - start_ > kLineBytesMax) {
    return Fail(ErrorCode::kInvalidArgument, "line {} is longer than {} bytes", lines_.size() + 1,
                kLineBytesMax);
  }
  lines_.push_back(start_ << kLengthBits | (end - start_));
  start_ = end + 1;
  return {};
}

Status LineIndex::SeeUntil(std::uint64_t lines) {
  if (text_.length > kTextMax)
    return Fail(ErrorCode::kInvalidArgument, "it is longer than {} bytes", kTextMax);
  std::string step;
  while (lines_.size() < lines && seen_ < text_.length) {
    step.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kStep, text_.length - seen_)));
    RETURN_IF_ERROR(ReadAt(text_.fd.get(), text_.offset + seen_, step.data(), step.size()));
    for (std::size_t at = 0; at < step.size();) {
      const void* found = std::memchr(step.data() + at, '\n', step.size() - at);
      if (found == nullptr) break;
      at = static_cast<std::size_t>(static_cast<const char*>(found) - step.data());
      RETURN_IF_ERROR(Add(seen_ + at));
      ++at;
    }
    seen_ += step.size();
    if (seen_ == text_.length && start_ < text_.length) RETURN_IF_ERROR(Add(text_.length));
  }
  return {};
}

Result<std::optional<std::string>> LineIndex::Line(std::uint64_t number) {
  std::uint64_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(SeeUntil(number + 1));
    if (number >= lines_.size()) return std::optional<std::string>();
    place = lines_[number];
  }
  std::string line(place & kLineBytesMax, '\0');
  RETURN_IF_ERROR(
      ReadAt(text_.fd.get(), text_.offset + (place >> kLengthBits), line.data(), line.size()));
  if (line.ends_with('\r')) line.pop_back();
  return std::optional<std::string>(std::move(line));
}

Result<std::uint64_t> LineIndex::Count() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(SeeUntil(std::numeric_limits<std::uint64_t>::max()));
  return lines_.size();
}

}  // namespace sabia::channels
