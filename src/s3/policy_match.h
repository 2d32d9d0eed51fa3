// How policies compare: wildcards, ARNs, address ranges. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

namespace sabia::s3 {

// Before "*" or "?" in a pattern: they stand for themselves. No byte of UTF-8.
inline constexpr char kLiteralNext = '\xFF';

// "*" stands for any number of bytes, "?" for one. Time: length of one times length of the other at
// most.
bool Matches(std::string_view pattern, std::string_view text);
bool MatchesIgnoringCase(std::string_view pattern, std::string_view text);
bool HasWildcard(std::string_view pattern);

// The six parts between colons are compared each by itself, with wildcards.
bool ArnMatches(std::string_view pattern, std::string_view arn);

// "10.0.0.0/8", "2001:db8::/32", or one address.
bool IsAddressRange(std::string_view range);
// False too when either is not what it should be. An IPv4 address that is written as IPv6 is the
// same.
bool AddressIsIn(std::string_view address, std::string_view range);
// How many leading bits the range fixes, of IPv4 (v6 false) or IPv6.
struct RangeWidth {
  int bits = 0;
  bool v6 = false;
};
std::optional<RangeWidth> WidthOf(std::string_view range);

}  // namespace sabia::s3
