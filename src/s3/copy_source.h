// The object that x-amz-copy-source names, opened, and the conditions on it met.
#pragma once

#include "s3/call.h"
#include "s3/range.h"

namespace sabia::s3 {

struct CopySource {
  S3Target target;
  ObjectStore::Opened object;
};

// NoSuchBucket or NoSuchKey of the source; PreconditionFailed; AccessDenied for another expected
// owner.
wire::AwsResult<CopySource> OpenCopySource(const S3Call& call);

// Bytes of a file into an upload.
Status WriteRange(int fd, const ByteRange& range, Upload& upload);

// If-None-Match: * and If-Match, on operations that write.
wire::AwsResult<PutOptions> ReadWriteConditions(const S3Call& call);

}  // namespace sabia::s3
