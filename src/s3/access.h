// Who may do what: the bucket's policy and its public access block, applied to a request.
//
// Everybody of the account may do everything that no policy denies: there are no identity policies
// here, so the root key and every role are as powerful as the account lets them be. A policy's Deny
// counts for all of them, but the root key can always read, replace and delete the policy itself.
// An unsigned request may do what a policy allows everyone, unless the public access block forbids.
//
// Threading: as the call. Errors: AccessDenied.
#pragma once

#include <string>
#include <string_view>

#include "objects/guarded_source.h"
#include "s3/bucket_rules.h"
#include "s3/call.h"

namespace sabia::s3 {

// Whether the caller may ask for this operation at all.
S3Result Authorize(const S3Call& call, std::string_view operation);

// Another object than the request's own: an entry of DeleteObjects, the source of a copy.
struct ObjectAccess {
  std::string_view operation;  // "GetObject"
  const S3Target& target;
  VersionChoice version = std::nullopt;
};
S3Result AuthorizeObject(const S3Call& call, const ObjectAccess& access);
// False: what is missing must not be told from what is forbidden.
bool MayList(const S3Call& call);

// "User: … is not authorized to perform: … because public policies are prevented by …"
tl::unexpected<wire::AwsError> RefusePublicPolicy(const S3Call& call);
// Whether this policy would deny the caller to change it again.
bool LocksOut(const S3Call& call, const BucketPolicy& policy);

// The same for jobs, which read the store directly: what a session of the role may read. Objects of
// buckets that do not live here are none of its business.
//
// Threading: thread-safe. The store must outlive what this gives.
struct RoleAccess {
  ObjectStore& store;
  env::Clock& clock;
  std::string account;
  std::string region;
};
objects::ReadCheck ReadCheckOf(const RoleAccess& access, const std::string& role_arn);

}  // namespace sabia::s3
