#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace sabia {
namespace {

ErrorCode CodeOfErrno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kResourceExhausted;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return ErrorCode::kUnavailable;
    case ETIMEDOUT:
    case EAGAIN:
      return ErrorCode::kTimeout;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

tl::unexpected<Error> FailErrnoText(int errno_value, std::string context) {
  context += ": ";
  context += std::generic_category().message(errno_value);
  return tl::unexpected<Error>(Error{CodeOfErrno(errno_value), std::move(context)});
}

}  // namespace sabia
