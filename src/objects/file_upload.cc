#include "objects/file_upload.h"

#include <fcntl.h>

#include "base/check.h"
#include "base/encoding.h"

namespace sabia::objects {
namespace {

// The kernel is asked to write out every so many bytes, so that the sync at the end of a large
// upload finds little left to do and memory is not filled with dirty pages.
constexpr std::uint64_t kWritebackStep = 16U << 20;

}  // namespace

FileUpload::FileUpload(Parts parts)
    : blobs_(parts.blobs), md5_(wire::NewMd5(parts.md5)), algorithms_(std::move(parts.algorithms)) {
  for (const ChecksumAlgorithm algorithm : algorithms_) hashers_[algorithm] = NewHasher(algorithm);
}

FileUpload::FileUpload(Parts parts, JointPlace place, env::UniqueFd fd)
    : FileUpload(std::move(parts)) {
  place_.emplace(std::move(place));
  fd_ = std::move(fd);
}

Status FileUpload::Write(std::string_view data) {
  if (place_ && size_ + data.size() > place_->size()) {
    return Fail(ErrorCode::kInvalidArgument, "the part is longer than the {} bytes announced",
                place_->size());
  }
  if (!fd_ && held_.size() + data.size() > kHeldBytesMax) RETURN_IF_ERROR(Spill());
  if (fd_) {
    RETURN_IF_ERROR(WriteOut(data));
  } else {
    held_.append(data);
  }
  md5_->Update(data);
  for (auto& [algorithm, hasher] : hashers_) hasher->Update(data);
  size_ += data.size();
  return {};
}

Status FileUpload::Spill() {
  ASSIGN_OR_RETURN(BlobDirectory::Created created, blobs_.Create());
  blob_.emplace(std::move(created.blob));
  fd_ = std::move(created.fd);
  return WriteOut(held_);
}

Status FileUpload::WriteOut(std::string_view data) {
  RETURN_IF_ERROR(env::WriteAll(fd_.get(), data));
  written_ += data.size();
  if (written_ - writeback_started_ < kWritebackStep) return {};
  // A hint: its failure shows in the sync at the end.
  const std::uint64_t start = (place_ ? place_->offset() : 0) + writeback_started_;
  (void)::sync_file_range(fd_.get(), static_cast<off64_t>(start),
                          static_cast<off64_t>(written_ - writeback_started_),
                          SYNC_FILE_RANGE_WRITE);
  writeback_started_ = written_;
  return {};
}

std::string FileUpload::FinishChecksum(ChecksumAlgorithm algorithm) {
  const auto found = hashers_.find(algorithm);
  CHECK(found != hashers_.end());
  return Base64Encode(found->second->Finish());
}

std::map<std::string, std::string> FileUpload::KeptChecksum() {
  if (algorithms_.empty()) return {};
  return {{std::string(Name(algorithms_.front())), FinishChecksum(algorithms_.front())}};
}

std::map<std::string, std::string> FileUpload::AllChecksums() {
  std::map<std::string, std::string> out;
  for (const auto& [algorithm, hasher] : hashers_) {
    out.emplace(Name(algorithm), Base64Encode(hasher->Finish()));
  }
  return out;
}

Status FileUpload::Settle() {
  if (!fd_) RETURN_IF_ERROR(Spill());
  fd_.Reset();
  return {};
}

Status FileUpload::Sync() {
  if (!fd_) RETURN_IF_ERROR(Spill());
  RETURN_IF_ERROR(SyncFile(fd_.get()));
  fd_.Reset();
  return {};
}

std::string FileUpload::HexOf(Hasher& hasher) { return HexEncode(hasher.Finish()); }

}  // namespace sabia::objects
