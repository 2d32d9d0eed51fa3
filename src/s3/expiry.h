// What answers say about the lifecycle of their object or upload.
//
// Threading: as the call.
#pragma once

#include "s3/call.h"

namespace sabia::s3 {

// x-amz-expiration, where a rule foresees it.
void AddExpiration(const S3Call& call, const ObjectInfo& object, wire::Headers& headers);
void AddExpiration(const BucketRules* rules, const ObjectInfo& object, wire::Headers& headers);
// x-amz-abort-date and x-amz-abort-rule-id.
void AddAbort(const S3Call& call, const MultipartInfo& upload, wire::Headers& headers);

}  // namespace sabia::s3
