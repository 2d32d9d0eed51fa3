// Why a request is not authenticated, and what each protocol family calls it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "wire/aws_error.h"

namespace sabia::wire {

enum class AuthProblem {
  kMissing,         // the request is not signed
  kIncomplete,      // the Authorization field, or the query, lacks parts or is malformed
  kUnsupported,     // another scheme, such as signature version 2
  kUnknownKey,      // no such access key id
  kInvalidToken,    // the session token is missing, forged or of another key
  kExpiredToken,    // the temporary credentials have expired
  kMismatch,        // the signature is another one
  kWrongScope,      // signed for another day or service
  kUnsignedFields,  // x-amz-* fields that the signature does not cover
  kTooOld,          // the clocks differ by more than 15 minutes
  kTooNew,
  kUrlExpired,  // a presigned URL after its time
  kUrlNotYetValid,
  kUrlMalformed,        // X-Amz-Expires and its kin
  kMissingContentHash,  // S3: no x-amz-content-sha256
};

struct AuthError {
  AuthProblem problem;
  std::string message;  // "" for the usual sentence of the problem
  std::vector<std::pair<std::string, std::string>> details;  // members of an S3 error document
};

template <typename T>
using AuthResult = tl::expected<T, AuthError>;

template <typename... Args>
[[nodiscard]] tl::unexpected<AuthError> NotAuthentic(AuthProblem problem,
                                                     fmt::format_string<Args...> format,
                                                     Args&&... args) {
  return tl::unexpected<AuthError>(
      AuthError{problem, fmt::format(format, std::forward<Args>(args)...), {}});
}
[[nodiscard]] inline tl::unexpected<AuthError> NotAuthentic(AuthProblem problem) {
  return tl::unexpected<AuthError>(AuthError{problem, {}, {}});
}

enum class ErrorFamily { kS3, kJson, kQuery };

AwsError ToAwsError(const AuthError& error, ErrorFamily family);

}  // namespace sabia::wire
