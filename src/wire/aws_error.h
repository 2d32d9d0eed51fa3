// What AWS calls a failure: a code name, an HTTP status, a sentence.
//
// ToAwsError is the one place where our own errors become AWS names; business rules make AwsError
// values directly with the helpers below. Encoders (json, query, rest-xml) are in protocol.h.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/result.h"

namespace sabia::wire {

struct AwsError {
  std::string code;  // "ValidationException"
  unsigned status = 400;
  std::string message;
  // Extra members of a modelled exception or of an S3 error document, such as {"Key", "a/b"}.
  std::vector<std::pair<std::string, std::string>> details;
  // Header fields of an S3 answer, such as {"x-amz-delete-marker", "true"}.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

template <typename T>
using AwsResult = tl::expected<T, AwsError>;

// Refuse("ResourceInUse", 400, "... {}", name)
template <typename... Args>
[[nodiscard]] tl::unexpected<AwsError> Refuse(std::string_view code, unsigned status,
                                              fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<AwsError>(
      AwsError{std::string(code), status, fmt::format(format, std::forward<Args>(args)...), {}});
}
template <typename... Args>
[[nodiscard]] tl::unexpected<AwsError> RefuseValidation(fmt::format_string<Args...> format,
                                                        Args&&... args) {
  return Refuse("ValidationException", 400, format, std::forward<Args>(args)...);
}

// kInvalidArgument → ValidationException 400; kNotFound → ResourceNotFound 400; kAlreadyExists →
// ResourceInUse 400; kConflict → ConflictException 400; kDenied → AccessDeniedException 400;
// kResourceExhausted → ResourceLimitExceeded 400; kUnimplemented → UnsupportedOperation 400;
// kUnavailable, kTimeout → ServiceUnavailable 503; the rest → InternalFailure 500.
AwsError ToAwsError(const Error& error);
[[nodiscard]] tl::unexpected<AwsError> Pass(const Error& error);

}  // namespace sabia::wire
