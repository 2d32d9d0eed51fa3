// Encryption at rest, as requests and buckets ask for it.
//
// What a request says comes first, then the bucket's default, then nothing: the file then holds the
// bytes as they came. Threading: as the call. Errors: KMS.NotFoundException, InvalidArgument.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/key_ring.h"
#include "objects/sealed_upload.h"
#include "s3/call.h"

namespace sabia::s3 {

// What is to be done with what this request writes.
struct EncryptionPlan {
  objects::Encryption how;  // algorithm "": nothing
  std::optional<bool> bucket_key;
  bool any() const { return !how.algorithm.empty(); }
};
wire::AwsResult<EncryptionPlan> PlanEncryption(const S3Call& call);
// The same for a copy. Where nothing is said, a copy of what is encrypted stays so, under S3's own
// key.
wire::AwsResult<EncryptionPlan> PlanCopy(const S3Call& call, const ObjectInfo& source);

// A new data key by the plan; metadata then says how the object is encrypted. nullopt: not at all.
wire::AwsResult<std::optional<objects::UploadSeal>> MakeSeal(const S3Call& call,
                                                             const EncryptionPlan& plan,
                                                             Metadata& metadata);
// For a part of an upload that was begun with this envelope.
wire::AwsResult<std::optional<objects::UploadSeal>> SealOfPart(const S3Call& call,
                                                               const MultipartInfo& upload,
                                                               int part_number);

// Sealed or not.
wire::AwsResult<std::unique_ptr<Upload>> BeginUpload(const S3Call& call,
                                                     const std::optional<objects::UploadSeal>& seal,
                                                     std::vector<ChecksumAlgorithm> algorithms);

// Whether the file of the source can serve the copy too: both are sealed the same way, or neither
// is.
wire::AwsResult<bool> SharesFile(const S3Call& call, const EncryptionPlan& plan,
                                 const ObjectInfo& source);

}  // namespace sabia::s3
