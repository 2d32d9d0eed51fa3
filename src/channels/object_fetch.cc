#include "channels/object_fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include "channels/object_reader.h"

namespace sabia::channels {
namespace {

// Writes what arrives to its place, and stops when nobody wants it any more.
class Sink {
 public:
  Sink(int fd, std::uint64_t offset, wire::Hasher* hasher, const Cancelled& cancelled)
      : fd_(fd), offset_(offset), hasher_(hasher), cancelled_(cancelled) {}

  Status operator()(std::string_view data) {
    if (cancelled_ && cancelled_()) return Fail(ErrorCode::kTimeout, "cancelled");
    if (hasher_ != nullptr) hasher_->Update(data);
    while (!data.empty()) {
      const ssize_t n = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FailErrno(errno, "failed to write what arrives");
      data.remove_prefix(static_cast<std::size_t>(n));
      offset_ += static_cast<std::uint64_t>(n);
    }
    return {};
  }

 private:
  int fd_;
  std::uint64_t offset_;
  wire::Hasher* hasher_;
  const Cancelled& cancelled_;
};

}  // namespace

Status ObjectFetch::OpenFile() {
  ASSIGN_OR_RETURN(fd_, env::OpenFile(job_.file, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  const auto size = static_cast<off_t>(job_.object->size);
  // Room is taken now, so that a full disk is met before hours of downloading.
  if (size > 0 && ::fallocate(fd_.get(), 0, 0, size) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    return FailErrno(errno, "no room for {} bytes", job_.object->size);
  }
  if (::ftruncate(fd_.get(), size) != 0) return FailErrno(errno, "failed to set the size");
  return {};
}

Status ObjectFetch::FetchSmall(wire::S3Client& client, const Cancelled& cancelled) {
  RETURN_IF_ERROR(OpenFile());
  const ListedObject& object = *job_.object;
  if (object.size == 0) return {};
  return client.Read({.from = {object.bucket, object.key},
                      .etag = object.etag,
                      .offset = 0,
                      .length = object.size,
                      .whole = true},
                     Sink(fd_.get(), 0, nullptr, cancelled));
}

Status ObjectFetch::Open(wire::S3Client& client) {
  const ListedObject& object = *job_.object;
  ASSIGN_OR_RETURN(wire::S3Details details, client.Describe({object.bucket, object.key}));
  if (details.object.size != object.size) {
    return Fail(ErrorCode::kConflict, "it has {} bytes now, and had {} when it was listed",
                details.object.size, object.size);
  }
  announced_ = std::move(details.checksum);
  RETURN_IF_ERROR(OpenFile());
  const PieceLayout layout{
      object.size, options_.piece_size,
      announced_.combines() ? std::string(Name(*announced_.algorithm)) : std::string()};
  ASSIGN_OR_RETURN(PieceMap map, PieceMap::Open(job_.file, layout, options_.boot));
  const std::lock_guard lock(mutex_);
  map_ = std::move(map);
  return {};
}

std::optional<std::size_t> ObjectFetch::Take() {
  const std::lock_guard lock(mutex_);
  while (next_ < map_->layout().count() && map_->Has(next_)) ++next_;
  if (next_ >= map_->layout().count()) return std::nullopt;
  return next_++;
}

Status ObjectFetch::FetchPiece(wire::S3Client& client, std::size_t index,
                               const Cancelled& cancelled) {
  const ListedObject& object = *job_.object;
  const PieceLayout& layout = map_->layout();
  const auto hasher =
      announced_.combines() ? wire::NewHasherOf(announced_) : std::unique_ptr<wire::Hasher>();
  RETURN_IF_ERROR(client.Read({.from = {object.bucket, object.key},
                               .etag = object.etag,
                               .offset = layout.offset(index),
                               .length = layout.length(index)},
                              Sink(fd_.get(), layout.offset(index), hasher.get(), cancelled)));
  const std::lock_guard lock(mutex_);
  return map_->Add(index, hasher ? hasher->Finish() : std::string());
}

bool ObjectFetch::TakeCompletion() {
  const std::lock_guard lock(mutex_);
  if (completed_ || !map_->complete()) return false;
  completed_ = true;
  return true;
}

std::string ObjectFetch::Combined() const {
  std::string whole = map_->checksum(0);
  for (std::size_t i = 1; i < map_->layout().count(); ++i) {
    whole =
        wire::CombineCrc(*announced_.algorithm, whole, map_->checksum(i), map_->layout().length(i));
  }
  return whole;
}

Status ObjectFetch::Verify() {
  // Nobody takes pieces any more: all are there.
  Status right = announced_.combines() ? wire::CompareChecksum(announced_, Combined())
                                       : wire::VerifyFile(fd_.get(), job_.object->size, announced_);
  if (right || right.error().code != ErrorCode::kCorrupt) return right;
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(map_->Clear());
  next_ = 0;
  completed_ = false;
  return right;
}

void ObjectFetch::Finish() {
  if (!options_.boot.empty()) ::unlink(PieceMap::PathOf(job_.file).c_str());
}

}  // namespace sabia::channels
