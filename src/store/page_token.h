// Where a page of a List call ended, as an opaque text that clients hand back.
//
// A token is the position, the fingerprint of the query that made it, and a keyed hash (SipHash-2-4
// with a key that each home draws for itself), in base64. It survives a restart, and it is refused
// when it was made up, altered, or made by another query. It hides nothing: the position is of a
// row that the client has seen.
//
// Pure; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia::store {

using TokenKey = std::array<unsigned char, 16>;

// The sort key of a row, compared member by member: text for names and statuses, number for times,
// then the row.
struct PagePosition {
  std::string text;
  std::int64_t number = 0;
  std::int64_t id = 0;
  auto operator<=>(const PagePosition&) const = default;
};

std::uint64_t SipHash(const TokenKey& key, std::string_view bytes);

std::string EncodePageToken(const TokenKey& key, std::uint64_t fingerprint,
                            const PagePosition& position);
// kInvalidArgument for anything that EncodePageToken did not make with this key and fingerprint.
Result<PagePosition> DecodePageToken(const TokenKey& key, std::uint64_t fingerprint,
                                     std::string_view token);

}  // namespace sabia::store
