// Where an S3 URI points. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sabia::wire {

struct S3Location {
  std::string bucket;
  std::string key;  // may be empty: the whole bucket
};

// Where an object is written, and how it is to be encrypted there.
struct S3Target : S3Location {
  S3Target(S3Location where) : S3Location(std::move(where)) {}
  S3Target(std::string in, std::string as) : S3Location{std::move(in), std::move(as)} {}
  std::string kms_key;  // SSE-KMS under it: an id, ARN or alias; "": as the bucket's default says
};

// "s3://bucket/some/key" → {"bucket", "some/key"}. "https://host/bucket/key" is accepted too (path
// style). The key is taken as it stands: URIs in AWS requests are not percent-encoded.
// kInvalidArgument names what is wrong.
Result<S3Location> ParseS3Uri(std::string_view uri);

// 3 to 63 of [a-z0-9.-], beginning and ending with a letter or digit.
bool IsBucketName(std::string_view name);

}  // namespace sabia::wire
