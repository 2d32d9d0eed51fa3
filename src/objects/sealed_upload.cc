#include "objects/sealed_upload.h"

#include "base/check.h"
#include "base/encoding.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kEtagDigits = 32;

std::array<unsigned char, kSaltBytes> Salt(env::Random& random) {
  std::array<unsigned char, kSaltBytes> out{};
  random.Fill(out);
  return out;
}

}  // namespace

SealedUpload::SealedUpload(std::unique_ptr<Upload> inner, const UploadSeal& seal,
                           std::vector<ChecksumAlgorithm> algorithms, env::Random& random)
    : inner_(std::move(inner)),
      envelope_(seal.envelope),
      random_etag_(seal.opaque_etag ? random.Hex(kEtagDigits) : std::string()),
      sealer_(seal.key, seal.part_number, Salt(random),
              [this](std::string_view sealed) { return inner_->Write(sealed); }),
      algorithms_(std::move(algorithms)) {
  for (const ChecksumAlgorithm algorithm : algorithms_) hashers_[algorithm] = NewHasher(algorithm);
}

Status SealedUpload::Write(std::string_view data) {
  RETURN_IF_ERROR(sealer_.Write(data));
  md5_->Update(data);
  for (auto& [algorithm, hasher] : hashers_) hasher->Update(data);
  size_ += data.size();
  return {};
}

std::string SealedUpload::FinishMd5() { return HexEncode(md5_->Finish()); }

std::string SealedUpload::FinishChecksum(ChecksumAlgorithm algorithm) {
  const auto found = hashers_.find(algorithm);
  CHECK(found != hashers_.end());
  return Base64Encode(found->second->Finish());
}

std::string SealedUpload::Etag() { return random_etag_.empty() ? FinishMd5() : random_etag_; }

void SealedUpload::Describe(ObjectInfo& info) {
  info.size = size_;
  info.etag = Etag();
  info.envelope = envelope_;
  info.checksums.clear();
  if (algorithms_.empty()) return;
  info.checksums[std::string(Name(algorithms_.front()))] = FinishChecksum(algorithms_.front());
}

void SealedUpload::Describe(PartInfo& part) {
  part.size = size_;
  part.etag = Etag();
  part.checksums.clear();
  for (const auto& [algorithm, hasher] : hashers_) {
    part.checksums[std::string(Name(algorithm))] = Base64Encode(hasher->Finish());
  }
}

Result<Upload*> FinishSealed(Upload& upload) {
  auto* const sealed = dynamic_cast<SealedUpload*>(&upload);
  if (sealed == nullptr) return &upload;
  RETURN_IF_ERROR(sealed->Finish());
  return &sealed->inner();
}

}  // namespace sabia::objects
