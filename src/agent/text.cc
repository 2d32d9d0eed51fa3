#include "agent/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"

namespace sabia::agent {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the well-formed character at the start of text, or 0.
std::size_t CharacterLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return text.size() >= length && IsUtf8(text.substr(0, length)) ? length : 0;
}

// Appends characters while `more` of them are allowed and they fit into `bytes`.
std::string Clean(std::string_view text, std::size_t bytes, std::size_t more) {
  std::string out;
  for (; !text.empty() && more > 0; --more) {
    const std::size_t length = CharacterLength(text);
    const std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    if (out.size() + character.size() > bytes) break;
    out += character;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace

std::string SafeUtf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max && IsUtf8(text)) return std::string(text);
  return Clean(text, bytes_max, text.size());
}

std::string FirstCharacters(std::string_view text, std::size_t characters_max) {
  return Clean(text, text.size() * kReplacement.size(), characters_max);
}

std::string FewOf(const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(items.size(), kShown); ++i) {
    out += (i == 0 ? "" : ", ") + items[i];
  }
  if (items.size() > kShown) out += fmt::format(" and {} more", items.size() - kShown);
  return out;
}

}  // namespace sabia::agent
