#include "wire/aws_error.h"

namespace sabia::wire {
namespace {

struct AwsName {
  std::string_view code;
  unsigned status;
};

AwsName NameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {"ValidationException", 400};
    case ErrorCode::kNotFound:
      return {"ResourceNotFound", 400};
    case ErrorCode::kAlreadyExists:
      return {"ResourceInUse", 400};
    case ErrorCode::kConflict:
      return {"ConflictException", 400};
    case ErrorCode::kDenied:
      return {"AccessDeniedException", 400};
    case ErrorCode::kResourceExhausted:
      return {"ResourceLimitExceeded", 400};
    case ErrorCode::kUnimplemented:
      return {"UnsupportedOperation", 400};
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
      return {"ServiceUnavailable", 503};
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      break;
  }
  return {"InternalFailure", 500};
}

}  // namespace

AwsError ToAwsError(const Error& error) {
  const AwsName name = NameOf(error.code);
  return AwsError{std::string(name.code), name.status, error.message, {}};
}

tl::unexpected<AwsError> Pass(const Error& error) {
  return tl::unexpected<AwsError>(ToAwsError(error));
}

}  // namespace sabia::wire
