// The default encryption of a bucket. Pure; any thread. Errors: MalformedXML, InvalidArgument,
// NotImplemented for what is refused by name.
#pragma once

#include <string>
#include <string_view>

#include "objects/key_ring.h"
#include "wire/aws_error.h"

namespace sabia::s3 {

struct BucketEncryption {
  objects::Encryption how;
  bool bucket_key = false;
};
wire::AwsResult<BucketEncryption> ParseBucketEncryption(std::string_view document);
std::string WriteBucketEncryption(const BucketEncryption& encryption);

}  // namespace sabia::s3
