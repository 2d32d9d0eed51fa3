#include "api/log_pattern.h"

#include <algorithm>

namespace sabia::api {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// One term from `at` on: a quoted phrase (with \" and \\ inside) or everything up to the next
// blank.
Result<std::string> TakeTerm(std::string_view text, std::size_t& at) {
  std::string term;
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      term += text[at];
    }
    if (at == text.size())
      return Fail(ErrorCode::kInvalidArgument, "a quotation mark is not closed");
    ++at;
  } else {
    while (at < text.size() && !IsBlank(text[at])) term += text[at++];
  }
  if (term.empty()) return Fail(ErrorCode::kInvalidArgument, "a term is empty");
  return term;
}

}  // namespace

Result<LogPattern> LogPattern::Parse(std::string_view text) {
  LogPattern pattern;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    if (at == text.size()) break;
    const char first = text[at];
    if (first == '{')
      return Fail(ErrorCode::kUnimplemented, "JSON patterns ({{ … }}) are not supported");
    if (first == '[') {
      return Fail(ErrorCode::kUnimplemented, "space-delimited patterns ([ … ]) are not supported");
    }
    if (first == '%') {
      return Fail(ErrorCode::kUnimplemented, "regular expressions (% … %) are not supported");
    }
    std::vector<std::string>* list = &pattern.required_;
    if (first == '?') list = &pattern.any_;
    if (first == '-') list = &pattern.excluded_;
    if (list != &pattern.required_) ++at;
    ASSIGN_OR_RETURN(std::string term, TakeTerm(text, at));
    list->push_back(std::move(term));
  }
  return pattern;
}

bool LogPattern::Matches(std::string_view message) const {
  const auto occurs = [message](const std::string& term) {
    return message.find(term) != std::string_view::npos;
  };
  if (std::any_of(excluded_.begin(), excluded_.end(), occurs)) return false;
  if (!std::all_of(required_.begin(), required_.end(), occurs)) return false;
  // CloudWatch ignores "?" terms beside plain ones.
  return any_.empty() || !required_.empty() || std::any_of(any_.begin(), any_.end(), occurs);
}

}  // namespace sabia::api
