// The S3Body of a request, by what its x-amz-content-sha256 promises.
#pragma once

#include <memory>

#include "wire/auth_problem.h"
#include "wire/s3_handler.h"
#include "wire/sigv4_verifier.h"

namespace sabia::wire {

// The last line of the canonical request of an S3 request: its x-amz-content-sha256, or
// UNSIGNED-PAYLOAD for presigned URLs that do not say. Fails when a header-signed request has none.
AuthResult<std::string> S3PayloadHash(const RequestHead& head, const SignatureClaim& claim);

struct S3BodyInput {
  const RequestHead& head;
  BodyReader& raw;
  // Both nullptr for requests without a signature.
  const SignatureClaim* claim = nullptr;
  const VerifiedSignature* signature = nullptr;
};
// A reader that verifies what the head promises: a hash of the whole, signed or unsigned
// aws-chunked framing with or without trailer, or nothing. input.raw outlives it.
AwsResult<std::unique_ptr<S3Body>> OpenS3Body(const S3BodyInput& input);

}  // namespace sabia::wire
