// CloudWatch Logs filter patterns of unstructured events: terms, "phrases", ?alternatives and
// -exclusions.
//
// All plain terms must occur, none of the excluded ones, and, when alternatives are given without
// plain terms, at least one of them. Matching is case-sensitive on substrings, as CloudWatch does.
// An empty pattern matches all. Refused by name: JSON patterns ({ $.x = 1 }), space-delimited
// patterns ([a, b]) and %regular expressions%. Source: "Filter pattern syntax" of the CloudWatch
// Logs user guide. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::api {

class LogPattern {
 public:
  // kInvalidArgument: an open quote, or an empty term; kUnimplemented: a refused kind.
  static Result<LogPattern> Parse(std::string_view text);
  bool Matches(std::string_view message) const;

 private:
  std::vector<std::string> required_;
  std::vector<std::string> any_;
  std::vector<std::string> excluded_;
};

}  // namespace sabia::api
