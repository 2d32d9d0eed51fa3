#include "objects/key_scope.h"

namespace sabia::objects::index {

std::optional<std::string> AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

std::optional<std::size_t> KeyScope::CommonPrefixEnd(std::string_view key) const {
  if (delimiter.empty()) return std::nullopt;
  const std::size_t at = key.find(delimiter, prefix.size());
  if (at == std::string_view::npos) return std::nullopt;
  return at + delimiter.size();
}

std::optional<std::string> KeyScope::FirstKey(const std::string& after) const {
  if (after < prefix) return prefix;
  if (!after.starts_with(prefix)) return std::nullopt;  // behind every key with the prefix
  if (after.empty()) return std::string();
  if (const auto end = CommonPrefixEnd(after)) return AfterPrefix(after.substr(0, *end));
  return after + '\0';
}

}  // namespace sabia::objects::index
