// Bytes of an upload on their way to a temporary blob, hashed as they pass.
//
// Threading: thread-compatible. Errors: kResourceExhausted (disk full), kIo.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "objects/blob_directory.h"
#include "objects/object_store.h"

namespace sabia::objects {

class FileUpload final : public Upload {
 public:
  FileUpload(BlobDirectory::Created created, std::vector<ChecksumAlgorithm> algorithms);

  Status Write(std::string_view data) override;
  std::uint64_t size() const override { return size_; }
  std::string FinishMd5() override { return HexOf(*md5_); }
  std::string FinishChecksum(ChecksumAlgorithm algorithm) override;

  // "crc32" → base64, of the first algorithm or of all.
  std::map<std::string, std::string> KeptChecksum();
  std::map<std::string, std::string> AllChecksums();
  // Brings the bytes to the disk. Nothing can be written afterwards.
  Status Sync();
  TemporaryBlob& blob() { return blob_; }

 private:
  static std::string HexOf(Hasher& hasher);

  TemporaryBlob blob_;
  env::UniqueFd fd_;
  std::uint64_t size_ = 0;
  std::uint64_t writeback_started_ = 0;
  std::unique_ptr<Hasher> md5_ = NewMd5();
  const std::vector<ChecksumAlgorithm> algorithms_;
  std::map<ChecksumAlgorithm, std::unique_ptr<Hasher>> hashers_;
};

}  // namespace sabia::objects
