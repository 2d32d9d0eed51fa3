// Text of programs made fit for JSON and for AWS's length limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabia::agent {

// At most `bytes_max` bytes, cut between characters; bytes that are no UTF-8 become U+FFFD.
std::string SafeUtf8(std::string_view text, std::size_t bytes_max);
// At most `characters_max` code points.
std::string FirstCharacters(std::string_view text, std::size_t characters_max);
// "a, b, c and 7 more"
std::string FewOf(const std::vector<std::string>& items);

}  // namespace sabia::agent
