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

FileUpload::FileUpload(BlobDirectory::Created created, std::vector<ChecksumAlgorithm> algorithms)
    : blob_(std::move(created.blob)),
      fd_(std::move(created.fd)),
      algorithms_(std::move(algorithms)) {
  for (const ChecksumAlgorithm algorithm : algorithms_) hashers_[algorithm] = NewHasher(algorithm);
}

Status FileUpload::Write(std::string_view data) {
  RETURN_IF_ERROR(env::WriteAll(fd_.get(), data));
  md5_->Update(data);
  for (auto& [algorithm, hasher] : hashers_) hasher->Update(data);
  size_ += data.size();
  if (size_ - writeback_started_ >= kWritebackStep) {
    // A hint: its failure shows in the sync at the end.
    (void)::sync_file_range(fd_.get(), static_cast<off64_t>(writeback_started_),
                            static_cast<off64_t>(size_ - writeback_started_),
                            SYNC_FILE_RANGE_WRITE);
    writeback_started_ = size_;
  }
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

Status FileUpload::Sync() {
  RETURN_IF_ERROR(SyncFile(fd_.get()));
  fd_.Reset();
  return {};
}

std::string FileUpload::HexOf(Hasher& hasher) { return HexEncode(hasher.Finish()); }

}  // namespace sabia::objects
