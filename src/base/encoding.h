// Hex, base64 and percent encoding, as HTTP and SigV4 need them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia {

std::string HexEncode(std::string_view bytes);  // lower case
Result<std::string> HexDecode(std::string_view text);
std::string Base64Encode(std::string_view bytes);
Result<std::string> Base64Decode(std::string_view text);  // padding required

// Percent encoding of RFC 3986: all but A-Z a-z 0-9 - . _ ~ becomes %XX. keep_slash leaves "/" as
// it is.
std::string UriEncode(std::string_view text, bool keep_slash = false);
// Fails on "%" without two hex digits. plus_is_space is the rule of form bodies.
Result<std::string> UriDecode(std::string_view text, bool plus_is_space = false);

bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::string ToLower(std::string_view text);

// True when the bytes are well-formed UTF-8 (no overlong forms, no surrogates).
bool IsUtf8(std::string_view bytes);

}  // namespace sabia
