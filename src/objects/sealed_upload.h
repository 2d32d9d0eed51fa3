// An upload whose bytes are sealed on their way to another one.
//
// Sizes, checksums and Content-MD5 are those of the content. Threading: thread-compatible. Errors:
// those of the upload inside.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "objects/object_store.h"
#include "objects/sealing.h"

namespace sabia::objects {

// How the uploads of one request are sealed.
struct UploadSeal {
  DataKey key{};
  std::string envelope;
  bool opaque_etag = false;  // of KMS: no MD5, but as random as one looks
  int part_number = 0;
};

class SealedUpload final : public Upload {
 public:
  SealedUpload(std::unique_ptr<Upload> inner, const UploadSeal& seal,
               std::vector<ChecksumAlgorithm> algorithms, env::Random& random);

  Status Write(std::string_view data) override;
  std::uint64_t size() const override { return size_; }
  std::string FinishMd5() override;
  std::string FinishChecksum(ChecksumAlgorithm algorithm) override;

  // Writes what is held; before the upload inside is published.
  Status Finish() { return sealer_.Finish(); }
  Upload& inner() { return *inner_; }
  // Puts size, ETag, checksums and envelope of the content in place of the file's.
  void Describe(ObjectInfo& info);
  void Describe(PartInfo& part);

 private:
  std::string Etag();

  const std::unique_ptr<Upload> inner_;
  const std::string envelope_;
  const std::string random_etag_;  // "" for the MD5
  Sealer sealer_;
  std::uint64_t size_ = 0;
  std::unique_ptr<Hasher> md5_ = NewMd5();
  const std::vector<ChecksumAlgorithm> algorithms_;
  std::map<ChecksumAlgorithm, std::unique_ptr<Hasher>> hashers_;
};

inline bool IsSealed(const Upload& upload) {
  return dynamic_cast<const SealedUpload*>(&upload) != nullptr;
}
// The upload that writes the file: this one, or the one inside; sealed and complete.
Result<Upload*> FinishSealed(Upload& upload);
// What the store says of an upload, corrected where it was sealed.
template <typename Info>
void DescribeSealed(Upload& upload, Info& info) {
  if (auto* const sealed = dynamic_cast<SealedUpload*>(&upload)) sealed->Describe(info);
}

}  // namespace sabia::objects
