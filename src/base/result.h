// Result<T>: a value or an Error. Status: nothing or an Error.
//
// RETURN_IF_ERROR and ASSIGN_OR_RETURN are the only control-flow macros of the project.
#pragma once

#include <fmt/format.h>

#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace sabia {

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Fail(ErrorCode::kNotFound, "no such job '{}'", name)
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> Fail(ErrorCode code, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Fails with the text of an errno value: FailErrno(errno, "failed to open '{}'", path). ENOENT
// becomes kNotFound, EEXIST kAlreadyExists, EACCES and EPERM kDenied, ENOSPC, EDQUOT, EMFILE and
// ENFILE kResourceExhausted, others kIo.
tl::unexpected<Error> FailErrnoText(int errno_value, std::string context);
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> FailErrno(int errno_value, fmt::format_string<Args...> format,
                                              Args&&... args) {
  return FailErrnoText(errno_value, fmt::format(format, std::forward<Args>(args)...));
}

// Passes an error on with context in front.
[[nodiscard]] inline tl::unexpected<Error> Wrap(Error error, std::string_view context) {
  return tl::unexpected<Error>(Annotate(std::move(error), context));
}

#define SABIA_CONCAT_INNER(a, b) a##b
#define SABIA_CONCAT(a, b) SABIA_CONCAT_INNER(a, b)

// Numbered by __COUNTER__, so that either may stand in a lambda that is itself the argument of one.
#define RETURN_IF_ERROR(expr) \
  SABIA_RETURN_IF_ERROR_INNER(SABIA_CONCAT(sabia_status_, __COUNTER__), expr)
#define SABIA_RETURN_IF_ERROR_INNER(tmp, expr)                    \
  do {                                                            \
    auto tmp = (expr);                                            \
    if (!tmp) return tl::make_unexpected(std::move(tmp).error()); \
  } while (false)

#define ASSIGN_OR_RETURN(decl, expr) \
  SABIA_ASSIGN_OR_RETURN_INNER(SABIA_CONCAT(sabia_result_, __COUNTER__), decl, expr)
#define SABIA_ASSIGN_OR_RETURN_INNER(tmp, decl, expr)           \
  auto tmp = (expr);                                            \
  if (!tmp) return tl::make_unexpected(std::move(tmp).error()); \
  decl = std::move(tmp).value()

}  // namespace sabia
