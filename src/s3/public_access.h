// The public access block of a bucket. Pure; any thread. Errors: MalformedXML.
//
// A bucket that was never told anything has all four on, as new buckets on AWS have.
#pragma once

#include <string>
#include <string_view>

#include "wire/aws_error.h"

namespace sabia::s3 {

struct PublicAccessBlock {
  bool block_public_acls = true;  // there are no ACLs that could be public
  bool ignore_public_acls = true;
  bool block_public_policy = true;      // a public policy cannot be put
  bool restrict_public_buckets = true;  // a public policy lets nobody from outside in
};

// "" means that the block was deleted: nothing is on.
wire::AwsResult<PublicAccessBlock> ParsePublicAccessBlock(std::string_view document);
std::string WritePublicAccessBlock(const PublicAccessBlock& block);

}  // namespace sabia::s3
