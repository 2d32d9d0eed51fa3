#include "s3/policy_match.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/encoding.h"

namespace sabia::s3 {
namespace {

constexpr int kArnParts = 6;
constexpr int kV4Bits = 32;
constexpr int kV6Bits = 128;
constexpr int kMappedBits = 96;  // of "::ffff:" before an IPv4 address

struct Address {
  std::array<unsigned char, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
  bool v6 = false;
};

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string name(text);
  Address out;
  std::array<unsigned char, 4> v4{};
  if (::inet_pton(AF_INET, name.c_str(), v4.data()) == 1) {
    out.bytes[10] = out.bytes[11] = 0xff;
    std::copy(v4.begin(), v4.end(), out.bytes.begin() + 12);
    return out;
  }
  if (::inet_pton(AF_INET6, name.c_str(), out.bytes.data()) != 1) return std::nullopt;
  out.v6 = true;
  return out;
}

struct Range {
  Address address;
  int bits = 0;  // of the 128
};

std::optional<Range> ParseRange(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  const int most = address->v6 ? kV6Bits : kV4Bits;
  int bits = most;
  if (slash < text.size()) {
    const std::string_view digits = text.substr(slash + 1);
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, bits);
    if (error != std::errc() || at != end || bits < 0 || bits > most) return std::nullopt;
  }
  return Range{*address, address->v6 ? bits : bits + kMappedBits};
}

template <typename Same>
bool MatchBy(std::string_view pattern, std::string_view text, Same same) {
  std::size_t p = 0, t = 0;
  // Where the last star stood, and which byte behind it is tried next.
  std::size_t star = std::string_view::npos, again = 0;
  while (t < text.size()) {
    const bool literal = p + 1 < pattern.size() && pattern[p] == kLiteralNext;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      again = t;
    } else if (literal && pattern[p + 1] == text[t]) {
      p += 2;
      ++t;
    } else if (!literal && p < pattern.size() && (pattern[p] == '?' || same(pattern[p], text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++again;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool Matches(std::string_view pattern, std::string_view text) {
  return MatchBy(pattern, text, [](char a, char b) { return a == b; });
}

bool MatchesIgnoringCase(std::string_view pattern, std::string_view text) {
  return Matches(ToLower(pattern), ToLower(text));
}

bool HasWildcard(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

bool ArnMatches(std::string_view pattern, std::string_view arn) {
  if (pattern == "*") return true;
  for (int part = 1; part < kArnParts; ++part) {
    const std::size_t a = pattern.find(':');
    const std::size_t b = arn.find(':');
    if (a == std::string_view::npos || b == std::string_view::npos) return false;
    if (!Matches(pattern.substr(0, a), arn.substr(0, b))) return false;
    pattern.remove_prefix(a + 1);
    arn.remove_prefix(b + 1);
  }
  return Matches(pattern, arn);
}

bool IsAddressRange(std::string_view range) { return ParseRange(range).has_value(); }

bool AddressIsIn(std::string_view address, std::string_view range) {
  const auto whole = ParseAddress(address);
  const auto wanted = ParseRange(range);
  if (!whole || !wanted) return false;
  for (int bit = 0; bit < wanted->bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if (((whole->bytes[byte] ^ wanted->address.bytes[byte]) & mask) != 0) return false;
  }
  return true;
}

std::optional<RangeWidth> WidthOf(std::string_view range) {
  const auto parsed = ParseRange(range);
  if (!parsed) return std::nullopt;
  return parsed->address.v6 ? RangeWidth{parsed->bits, true}
                            : RangeWidth{parsed->bits - kMappedBits, false};
}

}  // namespace sabia::s3
