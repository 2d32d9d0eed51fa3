// The object that x-amz-copy-source names, opened, and the conditions on it met.
#pragma once

#include "objects/s3_call.h"
#include "objects/s3_range.h"

namespace sabia::objects {

struct CopySource {
  S3Target target;
  ObjectStore::Opened object;
};

// NoSuchBucket or NoSuchKey of the source; PreconditionFailed; AccessDenied for another expected
// owner.
wire::AwsResult<CopySource> OpenCopySource(const S3Call& call);

// Bytes of a file into an upload.
Status WriteRange(int fd, const ByteRange& range, Upload& upload);

namespace s3 {

// If-None-Match: * and If-Match, on operations that write.
wire::AwsResult<PutOptions> ReadWriteConditions(const S3Call& call);

}  // namespace s3
}  // namespace sabia::objects
