#include "objects/joint_upload.h"

#include "objects/types.h"

namespace sabia::objects {

std::optional<std::uint64_t> JointFile::Claim(int number, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  // A small first part says nothing about the others: it is likely to be the last.
  if (sealed_ || (part_size_ == 0 && size < kPartBytesMin)) return std::nullopt;
  const std::uint64_t part_size = part_size_ == 0 ? size : part_size_;
  const std::uint64_t offset = static_cast<std::uint64_t>(number - 1) * part_size;
  if (size == 0 || size > part_size || offset + size > kObjectBytesMax) return std::nullopt;
  if (!taken_.insert(number).second) return std::nullopt;
  part_size_ = part_size;
  ++writers_;
  return offset;
}

void JointFile::Leave(int number, bool keep) {
  const std::lock_guard lock(mutex_);
  --writers_;
  if (!keep) taken_.erase(number);
}

bool JointFile::Seal() {
  const std::lock_guard lock(mutex_);
  if (sealed_ || writers_ > 0) return false;
  sealed_ = true;
  return true;
}

void JointFile::Unseal() {
  const std::lock_guard lock(mutex_);
  sealed_ = false;
}

void JointUploads::Begin(std::string_view upload_id, std::string_view blob_id) {
  const std::lock_guard lock(mutex_);
  if (files_.size() >= kUploadsMax) files_.erase(files_.begin());
  files_.emplace(upload_id, std::make_shared<JointFile>(std::string(blob_id)));
}

std::optional<JointPlace> JointUploads::Claim(std::string_view upload_id, int number,
                                              std::uint64_t size) {
  std::shared_ptr<JointFile> file = Find(upload_id);
  const auto offset = file ? file->Claim(number, size) : std::nullopt;
  if (!offset) return std::nullopt;
  return JointPlace(std::move(file), number, *offset, size);
}

std::optional<JointSeal> JointUploads::Seal(std::string_view upload_id) {
  std::shared_ptr<JointFile> file = Find(upload_id);
  if (!file || !file->Seal()) return std::nullopt;
  return JointSeal(std::move(file));
}

void JointUploads::Forget(std::string_view upload_id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = files_.find(upload_id); found != files_.end()) files_.erase(found);
}

std::shared_ptr<JointFile> JointUploads::Find(std::string_view upload_id) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(upload_id);
  return found == files_.end() ? nullptr : found->second;
}

}  // namespace sabia::objects
