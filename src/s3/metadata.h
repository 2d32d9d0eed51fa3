// Headers that are stored with an object and come back with it. Pure; any thread.
#pragma once

#include "s3/engine.h"
#include "wire/aws_error.h"
#include "wire/http.h"

namespace sabia::s3 {

// Content-Type and its kind, x-amz-meta-*, and what was said about encryption. MetadataTooLarge
// beyond 2 KiB of user metadata, as on AWS.
wire::AwsResult<Metadata> ReadMetadata(const wire::Headers& headers);

// As headers of an answer to GetObject or HeadObject.
void AddMetadata(const Metadata& metadata, wire::Headers& headers);
// Only what PutObject and its kind echo: encryption.
// Drops what belongs to the request that writes and not to what is copied: encryption and the
// website's redirect location.
void ForgetRequested(Metadata& metadata);
void AddEncryption(const Metadata& metadata, wire::Headers& headers);
// What `from` says about encryption, and nothing else of it, in place of what `to` says.
void KeepEncryption(const Metadata& from, Metadata& to);

}  // namespace sabia::s3
