// Bytes of an upload on their way to the disk, hashed as they pass.
//
// Small ones are held in memory until it is known what becomes of them. Others go to a temporary
// blob of their own, or to a place in the joint file of their multipart upload.
//
// Threading: thread-compatible. Errors: kResourceExhausted (disk full), kIo.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/blob_directory.h"
#include "objects/joint_upload.h"
#include "objects/object_store.h"
#include "wire/md5_team.h"

namespace sabia::objects {

class FileUpload final : public Upload {
 public:
  // So many bytes are held in memory at most.
  static constexpr std::size_t kHeldBytesMax = 32U << 10;

  struct Parts {
    BlobDirectory& blobs;
    wire::Md5Team& md5;
    std::vector<ChecksumAlgorithm> algorithms;
  };
  explicit FileUpload(Parts parts);
  // Writes to the place of the joint file, which fd is open for.
  FileUpload(Parts parts, JointPlace place, env::UniqueFd fd);

  Status Write(std::string_view data) override;
  std::uint64_t size() const override { return size_; }
  std::string FinishMd5() override { return HexOf(*md5_); }
  std::string FinishChecksum(ChecksumAlgorithm algorithm) override;

  // "crc32" → base64, of the first algorithm or of all.
  std::map<std::string, std::string> KeptChecksum();
  std::map<std::string, std::string> AllChecksums();

  // What is held, when no byte has gone elsewhere.
  bool held() const { return !blob_ && !place_; }
  const std::string& held_bytes() const { return held_; }
  // Writes what is held to a blob. Nothing can be written to the upload afterwards.
  Status Settle();
  // Brings the bytes to the disk, likewise.
  Status Sync();
  // REQUIRES: settled or synced, and not placed.
  TemporaryBlob& blob() { return *blob_; }
  // nullptr: it has a blob of its own.
  JointPlace* place() { return place_ ? &*place_ : nullptr; }

 private:
  static std::string HexOf(Hasher& hasher);
  Status Spill();
  Status WriteOut(std::string_view data);

  BlobDirectory& blobs_;
  std::optional<TemporaryBlob> blob_;
  std::optional<JointPlace> place_;
  env::UniqueFd fd_;
  std::string held_;
  std::uint64_t size_ = 0;
  std::uint64_t written_ = 0;            // of size_, to the file
  std::uint64_t writeback_started_ = 0;  // of written_
  std::unique_ptr<Hasher> md5_;
  const std::vector<ChecksumAlgorithm> algorithms_;
  std::map<ChecksumAlgorithm, std::unique_ptr<Hasher>> hashers_;
};

}  // namespace sabia::objects
