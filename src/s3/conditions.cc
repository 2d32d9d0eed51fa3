#include "s3/conditions.h"

#include <algorithm>

namespace sabia::s3 {
namespace {

std::optional<std::string> ReadText(const wire::Headers& headers, const std::string& name) {
  const auto value = headers.Find(name);
  if (!value) return std::nullopt;
  return std::string(*value);
}

std::optional<WallTime> ReadDate(const wire::Headers& headers, const std::string& name) {
  const auto value = headers.Find(name);
  if (!value) return std::nullopt;
  const auto parsed = ParseRfc1123(*value);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::string_view TrimBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Conditions ReadConditions(const wire::Headers& headers, std::string_view prefix) {
  const std::string p(prefix);
  return {ReadText(headers, p + "if-match"), ReadText(headers, p + "if-none-match"),
          ReadDate(headers, p + "if-modified-since"), ReadDate(headers, p + "if-unmodified-since")};
}

bool MatchesEtag(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = TrimBlanks(list.substr(0, comma));
    if (item == "*") return true;
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item.size() >= 2 && item.front() == '"' && item.back() == '"') {
      item = item.substr(1, item.size() - 2);
    }
    if (item == etag) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

Verdict Evaluate(const Conditions& conditions, const ObjectInfo& object) {
  // Headers carry whole seconds.
  const WallTime modified = std::chrono::floor<Seconds>(object.modified);
  if (conditions.if_match) {
    if (!MatchesEtag(*conditions.if_match, object.etag)) return Verdict::kFailed;
  } else if (conditions.if_unmodified_since && modified > *conditions.if_unmodified_since) {
    return Verdict::kFailed;
  }
  if (conditions.if_none_match) {
    if (MatchesEtag(*conditions.if_none_match, object.etag)) return Verdict::kNotModified;
  } else if (conditions.if_modified_since && modified <= *conditions.if_modified_since) {
    return Verdict::kNotModified;
  }
  return Verdict::kProceed;
}

}  // namespace sabia::s3
