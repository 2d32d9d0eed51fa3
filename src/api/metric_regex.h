// Whether the regular expression of a metric definition can be used: agents compile the same text
// with PCRE2.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia::api {

// The number of capture groups; a metric needs one, its first, to hold the number. kInvalidArgument
// says what does not compile and where.
Result<int> CountRegexGroups(std::string_view regex);

}  // namespace sabia::api
