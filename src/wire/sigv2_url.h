// Presigned URLs of signature version 2, which boto3 and the AWS CLI v1 still make for S3 unless
// told otherwise.
//
// Only URLs: an Authorization field of version 2 stays refused. Version 2 covers the method, the
// path, the sub-resources and the x-amz-* values; a parameter that it does not cover is refused, so
// that nobody adds one to a URL that was given to him. Buckets in host names are not covered here:
// such URLs do not match.
//
// Pure but for the authority; thread-safe.
#pragma once

#include <string>

#include "wire/credentials.h"
#include "wire/http.h"

namespace sabia::wire {

// Whether the query carries such a signature.
bool IsSigV2Url(const QueryParameters& query);

AuthResult<Principal> VerifySigV2Url(const RequestHead& head, const QueryParameters& query,
                                     const CredentialAuthority& authority, WallTime now);

// For tests: what is signed.
std::string SigV2StringToSign(const RequestHead& head, const QueryParameters& query);

}  // namespace sabia::wire
