// If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and their copy-source twins.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "s3/engine.h"
#include "wire/http.h"

namespace sabia::s3 {

struct Conditions {
  std::optional<std::string> if_match;
  std::optional<std::string> if_none_match;
  std::optional<WallTime> if_modified_since;
  std::optional<WallTime> if_unmodified_since;
};

// prefix: "" or "x-amz-copy-source-". Dates that cannot be read are ignored, as RFC 9110 asks.
Conditions ReadConditions(const wire::Headers& headers, std::string_view prefix);

enum class Verdict { kProceed, kNotModified, kFailed };
// ETags go before dates. For a copy, kNotModified means refusal too.
Verdict Evaluate(const Conditions& conditions, const ObjectInfo& object);

// Whether a list of quoted ETags, or "*", names this one.
bool MatchesEtag(std::string_view list, std::string_view etag);

}  // namespace sabia::s3
