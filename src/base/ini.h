// Text files of sections and settings, as AWS's shared config files are written.
//
// "[name]" begins a section, "key = value" a setting; lines that begin with "#" or ";" and what
// follows " #" or " ;" are comments. A key without a value owns the indented settings below it:
//   s3 =
//     addressing_style = path        is "s3.addressing_style".
// A section that comes twice is merged; of a key that comes twice, the last one counts.
//
// Pure; any thread. Errors: kInvalidArgument with the line's number; no value is ever quoted in a
// message, for files of this kind hold secrets.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia {

using IniSection = std::map<std::string, std::string, std::less<>>;
using IniDocument = std::map<std::string, IniSection, std::less<>>;

// Section names with inner blanks reduced to one: "profile  x" is "profile x". Keys in lower case.
Result<IniDocument> ParseIni(std::string_view text);

// The value, or "" when section or key is absent.
std::string IniValue(const IniDocument& document, std::string_view section, std::string_view key);

}  // namespace sabia
