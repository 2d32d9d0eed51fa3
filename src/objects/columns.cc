#include "objects/columns.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/json.h"
#include "objects/types.h"

namespace sabia::objects::index {

Result<std::string> EncodeMap(const std::map<std::string, std::string>& map) {
  if (map.empty()) return std::string();
  json::object out;
  for (const auto& [name, value] : map) {
    if (!IsUtf8(name) || !IsUtf8(value)) {
      return Fail(ErrorCode::kInvalidArgument, "metadata '{}' is not UTF-8", name);
    }
    out[name] = value;
  }
  return json::serialize(out);
}

Result<std::map<std::string, std::string>> DecodeMap(std::string_view text) {
  std::map<std::string, std::string> out;
  if (text.empty()) return out;
  ASSIGN_OR_RETURN(const json::object object, ParseJsonObject(text));
  for (const auto& member : object) {
    if (!member.value().is_string()) return Fail(ErrorCode::kCorrupt, "index holds a bad map");
    out.emplace(member.key(), View(member.value().get_string()));
  }
  return out;
}

std::string EncodeChecksums(const std::map<std::string, std::string>& checksums) {
  std::string out;
  for (const auto& [name, value] : checksums) {
    out += fmt::format("{}{} {}", out.empty() ? "" : " ", name, value);
  }
  return out;
}

Result<std::map<std::string, std::string>> DecodeChecksums(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const std::size_t name_end = text.find(' ');
    if (name_end == std::string_view::npos)
      return Fail(ErrorCode::kCorrupt, "index holds bad checksums");
    const std::size_t value_end = std::min(text.find(' ', name_end + 1), text.size());
    out.emplace(text.substr(0, name_end), text.substr(name_end + 1, value_end - name_end - 1));
    text.remove_prefix(std::min(value_end + 1, text.size()));
  }
  return out;
}

std::string EncodeSizes(const std::vector<std::uint64_t>& sizes) {
  std::string out;
  for (std::size_t i = 0; i < sizes.size();) {
    std::size_t end = i;
    while (end < sizes.size() && sizes[end] == sizes[i]) ++end;
    out += fmt::format("{}{}x{}", out.empty() ? "" : " ", sizes[i], end - i);
    i = end;
  }
  return out;
}

Result<std::vector<std::uint64_t>> DecodeSizes(std::string_view text) {
  std::vector<std::uint64_t> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t size = 0;
    std::size_t count = 0;
    const auto [x, size_error] = std::from_chars(at, end, size);
    if (size_error != std::errc() || x == end || *x != 'x') {
      return Fail(ErrorCode::kCorrupt, "index holds bad sizes of parts");
    }
    const auto [next, count_error] = std::from_chars(x + 1, end, count);
    if (count_error != std::errc() || count > static_cast<std::size_t>(kPartNumberMax)) {
      return Fail(ErrorCode::kCorrupt, "index holds bad sizes of parts");
    }
    out.insert(out.end(), count, size);
    at = next == end ? end : next + 1;
  }
  return out;
}

std::string MakeVersionId(std::int64_t sequence, std::string_view random_hex) {
  return fmt::format("{:016x}{}", sequence, random_hex);
}

std::optional<std::int64_t> SequenceOf(std::string_view version_id) {
  constexpr std::size_t kDigits = 16;
  if (version_id.size() != 2 * kDigits ||
      version_id.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t out = 0;
  const auto [end, error] =
      std::from_chars(version_id.data(), version_id.data() + kDigits, out, 16);
  if (error != std::errc() || end != version_id.data() + kDigits) return std::nullopt;
  return out;
}

}  // namespace sabia::objects::index
