// The S3 operations, one function each; api.cc calls them by name.
//
// Nothing was checked before but what api.cc checks for all: the owner, whether the caller may do
// it, and that every header and parameter is one we honour.
#pragma once

#include "s3/call.h"

namespace sabia::s3 {

// buckets.cc
S3Result ListBuckets(S3Call& call);
S3Result CreateBucket(S3Call& call);
S3Result HeadBucket(S3Call& call);
S3Result DeleteBucket(S3Call& call);
S3Result GetBucketLocation(S3Call& call);
S3Result GetAcl(S3Call& call);  // of buckets and of objects

// bucket_policy.cc
S3Result GetBucketPolicy(S3Call& call);
S3Result GetBucketPolicyStatus(S3Call& call);
S3Result PutBucketPolicy(S3Call& call);
S3Result DeleteBucketPolicy(S3Call& call);
S3Result GetPublicAccessBlock(S3Call& call);
S3Result PutPublicAccessBlock(S3Call& call);
S3Result DeletePublicAccessBlock(S3Call& call);
S3Result GetBucketOwnershipControls(S3Call& call);
S3Result PutBucketOwnershipControls(S3Call& call);
S3Result PutAcl(S3Call& call);  // of buckets and of objects

// encryption.cc
S3Result GetBucketEncryption(S3Call& call);
S3Result PutBucketEncryption(S3Call& call);
S3Result DeleteBucketEncryption(S3Call& call);

// versioning.cc
S3Result GetBucketVersioning(S3Call& call);
S3Result PutBucketVersioning(S3Call& call);
S3Result ListObjectVersions(S3Call& call);

// tagging.cc
S3Result GetObjectTagging(S3Call& call);
S3Result PutObjectTagging(S3Call& call);
S3Result DeleteObjectTagging(S3Call& call);
S3Result GetBucketTagging(S3Call& call);
S3Result PutBucketTagging(S3Call& call);
S3Result DeleteBucketTagging(S3Call& call);

// cross_origin.cc
S3Result Preflight(S3Call& call);
wire::Headers CrossOriginHeaders(const S3Call& call);
S3Result GetBucketCors(S3Call& call);
S3Result PutBucketCors(S3Call& call);
S3Result DeleteBucketCors(S3Call& call);

// lifecycle_actions.cc
S3Result GetBucketLifecycleConfiguration(S3Call& call);
S3Result PutBucketLifecycleConfiguration(S3Call& call);
S3Result DeleteBucketLifecycle(S3Call& call);

// attributes.cc
S3Result GetObjectAttributes(S3Call& call);

// read.cc
S3Result GetObject(S3Call& call);  // and HeadObject

// write.cc
S3Result PutObject(S3Call& call);
S3Result CopyObject(S3Call& call);
S3Result DeleteObject(S3Call& call);
S3Result DeleteObjects(S3Call& call);

// list.cc
S3Result ListObjects(S3Call& call);
S3Result ListObjectsV2(S3Call& call);
S3Result ListMultipartUploads(S3Call& call);
S3Result ListParts(S3Call& call);

// multipart.cc
S3Result CreateMultipartUpload(S3Call& call);
S3Result UploadPart(S3Call& call);
S3Result UploadPartCopy(S3Call& call);
S3Result CompleteMultipartUpload(S3Call& call);
S3Result AbortMultipartUpload(S3Call& call);

}  // namespace sabia::s3
