// Scalars as text: in URIs, headers, queries and XML.
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "wire/aws_error.h"
#include "wire/schema.h"

namespace sabia::wire {

// The format of a timestamp: the member's, else its shape's, else the default of its place.
TimestampFormat FormatOf(const Member& member, TimestampFormat fallback);

// The JSON form of a scalar. Timestamps are read in any of the three formats and become epoch
// seconds. The error's text says what was expected; the code is SerializationException.
AwsResult<json::value> ScalarFromText(const Member& member, std::string_view text);

// The reverse. `fallback` is the timestamp format of the place where the text goes.
std::string ScalarToText(const Member& member, const json::value& value, TimestampFormat fallback);

}  // namespace sabia::wire
