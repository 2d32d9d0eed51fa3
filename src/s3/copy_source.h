// The object that x-amz-copy-source names, opened, and the conditions on it met.
#pragma once

#include "s3/call.h"
#include "s3/range.h"

namespace sabia::s3 {

struct CopySource {
  S3Target target;
  VersionChoice version;  // that was asked for
  ObjectStore::Opened object;
};

// NoSuchBucket, NoSuchKey or NoSuchVersion of the source; InvalidRequest for a delete marker;
// PreconditionFailed; AccessDenied for another expected owner.
wire::AwsResult<CopySource> OpenCopySource(const S3Call& call);

// x-amz-copy-source-version-id, where the source's bucket has versions.
void AddSourceVersion(const S3Call& call, const CopySource& source, wire::Headers& headers);

// Content of an object into an upload.
Status WriteRange(ObjectStore& store, const ObjectStore::Opened& object, const ByteRange& range,
                  Upload& upload);

// If-None-Match: * and If-Match, on operations that write.
wire::AwsResult<PutOptions> ReadWriteConditions(const S3Call& call);

}  // namespace sabia::s3
