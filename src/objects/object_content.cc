#include "objects/object_content.h"

#include <unistd.h>

#include <cerrno>

namespace sabia::objects {

Result<ObjectContent> ObjectContent::Open(KeyRing& keys, const ObjectInfo& info, int fd) {
  if (info.envelope.empty()) return ObjectContent(fd);
  ASSIGN_OR_RETURN(const DataKey key, keys.Open(info.envelope));
  ASSIGN_OR_RETURN(std::vector<Segment> segments, SegmentsOf(info));
  return ObjectContent(Unsealer(key, std::move(segments), fd));
}

Status ObjectContent::Read(std::uint64_t offset, std::span<char> out) {
  if (unsealer_) return unsealer_->Read(offset, out);
  while (!out.empty()) {
    const ssize_t n = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a blob");
    if (n == 0) return Fail(ErrorCode::kCorrupt, "a blob is shorter than its row says");
    out = out.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace sabia::objects
