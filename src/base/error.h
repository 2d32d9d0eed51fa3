// What can go wrong, as a value.
//
// A code exists only if some caller acts on it; the comment beside each says what the caller does.
// Retry policy reads the code, never the message. Messages say "failed to X 'id': cause", without a
// trailing period.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sabia {

enum class ErrorCode {
  kInvalidArgument,    // fix the request
  kNotFound,           // nothing there: create it, or treat as already gone
  kAlreadyExists,      // somebody was first: read it
  kConflict,           // the revision moved: read again and repeat
  kDenied,             // not allowed: give up
  kResourceExhausted,  // a named limit was reached: reduce, or wait
  kUnavailable,        // the other side is away: retry later with back-off
  kTimeout,            // the other side is slow: retry later, or give up
  kIo,                 // the disk or a descriptor failed: give up on this object
  kCorrupt,            // stored bytes do not match their checksum or format: repair
  kUnimplemented,      // refuse by name
  kInternal,           // our own bug: loud log
};

// A stable lower-case name, for logs: "not_found".
std::string_view Name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

// Puts context in front: "failed to X 'id': " + message.
Error Annotate(Error error, std::string_view context);

}  // namespace sabia
