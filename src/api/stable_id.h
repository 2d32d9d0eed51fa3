// Identifiers that depend on a name only, so that asking twice gives the same one. Not secret, not
// unique by proof: they stand where AWS prints an id that clients show and never resolve. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sabia::api {

std::uint64_t StableHash(std::string_view text);

// 21 characters as IAM makes them: "AROA" and 17 letters and digits.
std::string StableRoleId(std::string_view role_name);

}  // namespace sabia::api
