// Which bucket and key a request means, and which bucket names are allowed. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/aws_error.h"

namespace sabia::s3 {

struct S3Target {
  std::string bucket;  // "" for the service itself
  std::string key;     // "" for the bucket itself
};

// Path style, "/bucket/some/key", and virtual hosts, "bucket.localhost" or
// "bucket.s3.<region>.amazonaws.com". The path is split before it is decoded, and "+", "//" and
// ".." are taken as they stand.
wire::AwsResult<S3Target> ParseTarget(std::string_view raw_path, std::string_view host);

// The rules of general purpose buckets: 3 to 63 of [a-z0-9.-] between letters or digits, no two
// dots side by side, no IPv4 address, no reserved prefix or suffix.
bool IsLegalBucketName(std::string_view name);

// "/bucket/key?versionId=…" of x-amz-copy-source, percent-encoded.
struct S3Source {
  S3Target target;
  std::optional<std::string> version;  // as it was written
};
wire::AwsResult<S3Source> ParseCopySource(std::string_view header);

}  // namespace sabia::s3
