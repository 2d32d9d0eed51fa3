// The Range header of GetObject, and x-amz-copy-source-range. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/aws_error.h"

namespace sabia::s3 {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // at least 1
};

// "bytes=0-9", "bytes=5-", "bytes=-3". nullopt: not a range that S3 honours (other units, several
// ranges, nonsense), so the whole object is sent. InvalidRange 416 when nothing of the object is in
// it.
wire::AwsResult<std::optional<ByteRange>> ParseRange(std::string_view header, std::uint64_t size);

// "bytes=first-last" only, inside the object; else InvalidArgument or InvalidRange.
wire::AwsResult<ByteRange> ParseCopyRange(std::string_view header, std::uint64_t size);

}  // namespace sabia::s3
