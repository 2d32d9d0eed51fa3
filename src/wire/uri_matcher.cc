#include "wire/uri_matcher.h"

#include <algorithm>

#include "base/check.h"
#include "base/encoding.h"
#include "wire/schema.h"

namespace sabia::wire {
namespace {

// "/endpoints/{EndpointName}/invocations" without its first slash, cut at the others.
std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> out;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const auto slash = path.find('/');
    out.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

bool IsLabel(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

bool Fits(const std::vector<std::string_view>& rule, const std::vector<std::string_view>& path) {
  return std::ranges::equal(rule, path, [](std::string_view expected, std::string_view given) {
    return IsLabel(expected) ? !given.empty() : expected == given;
  });
}

}  // namespace

std::size_t UriMatcher::Rule::Literals() const {
  return static_cast<std::size_t>(std::ranges::count_if(path, std::not_fn(IsLabel)));
}

UriMatcher::UriMatcher(const ServiceSchema& schema) {
  if (!schema.Speaks(Protocol::kRestJson)) return;
  for (const Operation& operation : schema.operations) {
    const std::string_view uri = operation.request_uri;
    CHECK_MSG(uri.find('?') == uri.npos && uri.find("+}") == uri.npos, std::string(uri));
    rules_.push_back({&operation, Segments(uri)});
  }
  std::ranges::stable_sort(rules_, std::ranges::greater(), &Rule::Literals);
}

Result<UriMatch> UriMatcher::Match(const RequestHead& head) const {
  UriMatch match;
  const auto path = Segments(head.raw_path);
  for (const Rule& rule : rules_) {
    if (head.method != rule.operation->http_method || !Fits(rule.path, path)) continue;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (!IsLabel(rule.path[i])) continue;
      ASSIGN_OR_RETURN(std::string value, UriDecode(path[i]));
      match.labels.emplace(rule.path[i].substr(1, rule.path[i].size() - 2), std::move(value));
    }
    match.operation = rule.operation;
    return match;
  }
  return match;
}

}  // namespace sabia::wire
