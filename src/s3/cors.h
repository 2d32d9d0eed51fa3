// Cross-origin requests: a bucket's rules, and which headers a browser is told.
//
// Pure; any thread. Errors: MalformedXML, InvalidRequest with AWS's sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/aws_error.h"
#include "wire/http.h"

namespace sabia::s3 {

struct CorsRule {
  std::string id;
  std::vector<std::string> origins;  // each with at most one "*"
  std::vector<std::string> methods;
  std::vector<std::string> headers;  // each with at most one "*"
  std::vector<std::string> exposed;
  std::optional<std::int64_t> max_age_seconds;
};

// 1 to 100 rules.
wire::AwsResult<std::vector<CorsRule>> ParseCors(std::string_view document);
std::string WriteCors(const std::vector<CorsRule>& rules);

struct CorsQuestion {
  std::string_view origin;
  std::string_view method;
  std::vector<std::string> headers;  // that the browser wants to send; lower case
};
// The question of a preflight: Origin and Access-Control-Request-*.
wire::AwsResult<CorsQuestion> ReadPreflight(const wire::Headers& headers);

// The first rule that allows it; nullptr when none does.
const CorsRule* MatchCors(const std::vector<CorsRule>& rules, const CorsQuestion& question);
// Access-Control-Allow-Origin and its kin, and Vary.
wire::Headers CorsHeaders(const CorsRule& rule, const CorsQuestion& question);

}  // namespace sabia::s3
