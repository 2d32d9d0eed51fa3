// Which keys a listing shows, which it folds into common prefixes, and where a page begins.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabia::objects::index {

// The smallest byte string greater than every string that starts with prefix; nullopt when there is
// none.
std::optional<std::string> AfterPrefix(std::string prefix);

struct KeyScope {
  std::string prefix;
  std::string delimiter;  // "" for none

  // Where a common prefix ends in the key: just behind the first delimiter that follows the prefix.
  std::optional<std::size_t> CommonPrefixEnd(std::string_view key) const;
  // The first key that a page behind `after` may show; nullopt when none can. What lies in a common
  // prefix that was shown before is left out. "" is the very beginning.
  std::optional<std::string> FirstKey(const std::string& after) const;
};

}  // namespace sabia::objects::index
